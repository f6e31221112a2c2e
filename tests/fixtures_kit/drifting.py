"""Small runs and fixtures to be compared: a folder of fixtures, a folder of runs, and changes to either."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zstandard

from dsh_lake.drift.verdict import Drift, fixtures_drift
from tests.fixtures_kit.made import manifest
from tests.fixtures_kit.runs import (
    STOP,
    TURN_END,
    Record,
    answer,
    message_id,
    rows,
    text,
    tool_events,
    user,
    v4_header,
)

JOB = "bash-90a0554ee42547ea"
GOAL = "goal-d1c5d5fa-4758-4e79-8e68-c438a1cf4931"
SPILLED = "/tmp/dsh-spill-UlXN5D/session-ca113bdef482/131c9594eb42-bash.txt"
USAGE = {"inputTokens": 100, "outputTokens": 20}


def events() -> list[Record]:
    """A turn of two steps with a job, a retry, an id in fragments and spilled output; a second turn."""
    made = tool_events()[:-1]
    made[5]["data"]["usage"] = dict(USAGE)
    made[6:6] = [
        event(
            "llm/retry",
            retryId="aaaaaaaa-0000-4000-8000-0000000000aa",
            turn=1,
            step=1,
            provider="p",
            mode="normal",
            policyKey="k",
            retry=1,
            maxRetries=2,
            delayMs=412,
            failure={"message": "busy", "code": "SERVER"},
        ),
        event("job/registered", jobId=JOB, kind="bash", label="make", startedAt=1_790_000_000_100),
    ]
    polling = {"type": "tool-call", "id": "call_2", "name": "job_output", "arguments": f'{{"id":"{JOB}"}}'}
    pieces = [f'{{"goal_id":"{GOAL[:10]}', GOAL[10:], f'","job":"{JOB}"}}']
    stream = [
        {"type": "tool-call-chunks", "time0": 1, "index": 0, "dt": [1, 2], "id": "call_2", "args": pieces}
    ]
    made += [
        event("step/start", turn=1, step=2),
        event(
            "assistant/message",
            turn=1,
            step=2,
            message=answer([polling], 5),
            usage=dict(USAGE),
            stream=stream,
        ),
        event("tool/call", turn=1, step=2, callId="call_2", name="job_output", arguments=f'{{"id":"{JOB}"}}'),
        event(
            "tool/result", turn=1, step=2, message=result("call_2", f"{JOB} done: stored at: {SPILLED}", 6)
        ),
        event("step/end", turn=1, step=2),
        TURN_END,
        event("turn/start", turn=2),
        event("step/start", turn=2, step=1),
        {"type": "user/message", "data": user(7, "and now?"), "surfaceOp": "append"},
        event(
            "assistant/message",
            turn=2,
            step=1,
            message=answer(text("all done"), 8),
            usage=dict(USAGE),
            stream=[{"type": "chunk", "time": 1, "chunk": STOP}],
        ),
        event("step/end", turn=2, step=1),
        event("turn/end", turn=2, reason={"kind": "completed"}),
    ]
    for record in made:
        if record["type"] in ("assistant/message", "tool/result"):
            record["surfaceOp"] = "append"
    return copy.deepcopy(made)


def event(kind: str, /, **data: Any) -> Record:
    return {"type": kind, "data": data}


def result(call: str, content: str, number: int) -> Record:
    return {
        "role": "tool",
        "source": {"kind": "tool", "callId": call},
        "toolCallId": call,
        "content": text(content),
        "isError": False,
        "id": message_id(number),
    }


def log(records: Sequence[Record], **header: Any) -> str:
    return rows(v4_header(**header), *records)


def put_run(folder: Path, logs: Sequence[str], **about: Any) -> Path:
    """A run as the harness leaves it: compressed logs, one folder a session, and what it says of itself."""
    for content in logs:
        header = json.loads(content.split("\n", 1)[0])
        place = folder / "sessions" / "--tmp-run--" / header["id"]
        place.mkdir(parents=True)
        frames = [zstandard.compress((line + "\n").encode()) for line in content.splitlines()]
        (place / "session.v4.jsonl.zstd").write_bytes(b"".join(frames))
    cwd = json.loads(logs[0].split("\n", 1)[0])["cwd"]
    (folder / "run.json").write_text(json.dumps({"cwd": cwd, "cwdAliases": [], **about}), "utf-8")
    return folder


def put_fixture(folder: Path, logs: Sequence[str], *more: str) -> Path:
    """A fixture with its manifest."""
    folder.mkdir(parents=True)
    for number, content in enumerate(logs):
        name = "session.v4.jsonl" if not number else f"session.{number}.v4.jsonl"
        (folder / name).write_text(content, "utf-8")
    lines = ("header:", "  class: default", *more)
    (folder / "snapshot.yml").write_text(manifest(folder.name, "headless", *lines), "utf-8")
    return folder


class Sides:
    """Compares logs given as texts, each comparison in folders of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0

    def drift(self, expected: Sequence[str], actual: Sequence[str], **options: Any) -> Drift:
        self._number += 1
        place = self._folder / str(self._number)
        put_run(place / "a" / "one", expected)
        put_run(place / "b" / "one", actual)
        drift = fixtures_drift(place / "a", place / "b", **options)
        # A log that is not as its generation has it would be compared in another way.
        assert [one.compared_by for one in drift.scenarios] == ["normalized"], drift.scenarios[0].note
        return drift


def causes(drift: Drift) -> list[str]:
    """All causes of all parts, the gravest of each first."""
    return sorted({cause for one in drift.scenarios for part in one.differing for cause in part.causes})
