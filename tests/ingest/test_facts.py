"""What events state besides text is found, in each spelling that a generation gives it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard

import dsh_lake
from tests import logs
from tests.corpus import CORPUS, THOROUGH

LOGS = sorted((CORPUS / "sessions").rglob("session*.jsonl*"))[:: 1 if THOROUGH else 6]
HOMES = sorted({log.relative_to(CORPUS / "sessions").parts[0] for log in LOGS})
Row = dict[str, Any]


def tables(folder: Path, *events: bytes) -> dict[str, list[Row]]:
    """Rows by table of a log of these events."""
    path = folder / "session.v4.jsonl"
    path.write_bytes(logs.header("s") + b"".join(events))
    return {name: table.to_pylist() for name, table in dsh_lake.read_session(path).items()}


def stated(folder: Path, kind: str, data: Any) -> Row:
    """What one event states: the columns of its row of facts that are not null."""
    (row,) = tables(folder, logs.event(kind, 0, data))["event_facts"]
    place = ("source_id", "line", "seq", "session_id", "at", "turn", "step", "type")
    flags = ("is_replacement", "is_inherited", "is_recovered")
    return {name: value for name, value in row.items() if value is not None and name not in (*place, *flags)}


STREAM_END = {
    "type": "chunk",
    "time": 5,
    "chunk": {"type": "finish", "reason": {"kind": "error", "failure": {}}},
}


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("turn/end", {"turn": 1, "reason": {"kind": "completed"}}, {"outcome": "completed"}),
        (
            "turn/end",
            {"turn": 1, "reason": {"kind": "aborted", "reason": {"kind": "user"}}},
            {"outcome": "aborted", "cause": "user"},
        ),
        (
            "turn/end",
            {
                "turn": 1,
                "reason": {"kind": "error", "error": {"code": "AUTH", "status": 401, "message": "no"}},
            },
            {"outcome": "error", "code": "AUTH", "http_status": 401},
        ),
        ("turn/end", {"turn": 1, "reason": 7}, {}),
        (
            "llm/retry",
            {
                "retryId": "r",
                "retry": 2,
                "delayMs": 0.25,
                "provider": "p",
                "failure": {"code": 1, "status": 429},
            },
            {"subject_id": "r", "ordinal": 2, "delay_ms": 0.25, "provider": "p", "http_status": 429},
        ),
        (
            "approval/decided",
            {"id": "a", "outcome": "rejected"},
            {"subject_id": "a", "outcome": "rejected"},
        ),
        (
            "compact/summary",
            {
                "compactionId": "c",
                "shadowedRange": {"start": 3, "end": 9},
                "shadowedTokenCount": 70,
                "model": "m",
            },
            {"subject_id": "c", "first_seq": 3, "last_seq": 9, "tokens": 70, "model": "m"},
        ),
        (
            "compaction/end",
            {"compactionId": "c", "error": "not smaller"},
            {"subject_id": "c", "outcome": "error"},
        ),
        (
            "job/settled",
            {
                "jobId": "j",
                "kind": "bash",
                "startedAt": 1000,
                "finishedAt": 1e300,
                "status": "completed",
                "detail": "exit code: 3; more",
                "toolCall": {"callId": "t"},
            },
            {
                "subject_id": "j",
                "name": "bash",
                "outcome": "completed",
                "exit_code": 3,
                "call_id": "t",
                "started_at": "1970-01-01T00:00:01+00:00",
            },
        ),
        (
            "tool/ptc-dispatch",
            {"rootCallId": "t", "subCallId": "t:1", "name": "read", "isError": False, "error": {"code": "X"}},
            {"call_id": "t", "subject_id": "t:1", "name": "read", "outcome": "error", "code": "X"},
        ),
        ("subagent/catalog", {"childId": "k", "mode": "one-shot"}, {"subject_id": "k", "name": "one-shot"}),
        (
            "assistant/attempt",
            {"turn": 1, "step": 1, "stream": [{"type": "text-chunks", "time0": 2000}, STREAM_END]},
            {"outcome": "error", "started_at": "1970-01-01T00:00:02+00:00"},
        ),
        ("model/selection", {"provider": "p", "model": ["m"]}, {"provider": "p"}),
    ],
)
def test_what_an_event_states(tmp_path: Path, kind: str, data: Any, expected: Row) -> None:
    found = stated(tmp_path, kind, data)
    assert {
        name: getattr(value, "isoformat", lambda v=value: v)() for name, value in found.items()
    } == expected


def test_equal_prompts_and_tools_have_equal_digests(tmp_path: Path) -> None:
    def header(tools: list[str], **more: Any) -> Row:
        return stated(
            tmp_path, "request/header", {"header": {"config": {"model": "m"}, "tools": tools, **more}}
        )

    said = {"message": {"role": "system", "content": [{"type": "text", "text": "be brief"}]}}
    assert header(["a"]) == header(["a"])
    assert header(["a"])["tools_sha256"] != header(["a", "b"])["tools_sha256"]
    prompt = stated(tmp_path, "system/message", said)["prompt_sha256"]
    assert header(["a"], system="be brief")["prompt_sha256"] == prompt


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("out\n[exit code: 3]", 3),
        ("[exit code: -9]", -9),
        ("[exit code: 3] more", None),
        ("[exit code: 3", None),
        ("out", None),
        ("", None),
    ],
)
def test_exit_code_of_a_result(tmp_path: Path, text: str, code: int | None) -> None:
    rows = tables(tmp_path, logs.call(0, "c"), logs.result(1, "c", text=text))
    assert rows["tool_results"][0]["exit_code"] == rows["tool_calls"][0]["exit_code"] == code


@pytest.mark.parametrize(
    ("stream", "milliseconds"),
    [
        ([{"type": "chunk", "time": 7, "chunk": {}}, {"type": "chunk", "time": 9}], 7),
        ([{"type": "text-chunks", "time0": 8, "index": 0}], 8),
        ([{"index": 0, "time0": 8, "type": "text-chunks"}], 8),
        ([{"type": "chunk", "time": "soon"}], None),
        ([], None),
        ("none", None),
    ],
)
def test_first_chunk_of_a_reply(tmp_path: Path, stream: Any, milliseconds: int | None) -> None:
    (row,) = tables(tmp_path, logs.event("assistant/message", 0, {"message": {}, "stream": stream}))[
        "messages"
    ]
    came = row["first_chunk_at"]
    assert (None if came is None else came.timestamp() * 1000) == milliseconds


@pytest.mark.skipif(not HOMES, reason="the corpus is not here (../shared/corpus/sessions)")
@pytest.mark.parametrize("home", HOMES)
def test_corpus_states_what_its_json_states(home: str) -> None:
    """Counted again by another walk over the same bytes, event by event."""
    found: Counter[tuple[Any, ...]] = Counter()
    expected: Counter[tuple[Any, ...]] = Counter()
    for log in LOGS:
        if log.relative_to(CORPUS / "sessions").parts[0] == home:
            rows = dsh_lake.read_session(log)["event_facts"].to_pylist()
            found.update(
                (row["type"], row["outcome"], row["code"])
                for row in rows
                if row["type"] in _WALKED and not row["is_recovered"]
            )
            expected.update(_walk(log))
    assert found == expected


def _walk(log: Path) -> list[tuple[Any, ...]]:
    raw = log.read_bytes()
    if raw[:4] == b"\x28\xb5\x2f\xfd":
        raw = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
    events = [json.loads(line) for line in raw.split(b"\n")[1:] if line and _is_json(line)]
    named = [(event["type"], event.get("data") or {}) for event in events]
    return [(kind, *_WALKED[kind](data)) for kind, data in named if kind in _WALKED]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _finish(data: Row) -> tuple[Any, Any]:
    chunks = [record["chunk"] for record in data["stream"] if record["type"] == "chunk"]
    ends = [chunk["reason"] for chunk in chunks if chunk["type"] == "finish"]
    return (ends[-1]["kind"], ends[-1].get("failure", {}).get("code")) if ends else (None, None)


_WALKED = {
    "turn/end": lambda data: (data["reason"]["kind"], (data["reason"].get("error") or {}).get("code")),
    "approval/asked": lambda data: (None, None),
    "approval/decided": lambda data: (data["outcome"], None),
    "llm/retry": lambda data: (None, data["failure"]["code"]),
    "job/settled": lambda data: (data["status"], None),
    "compaction/end": lambda data: ("error" if data.get("error") else None, None),
    "assistant/attempt": _finish,
}
