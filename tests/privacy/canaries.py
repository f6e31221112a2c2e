"""A home with a canary in every free text: whatever shows one tells what people, models or tools said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

from demo_home import write_home
from dsh_lake.records.session import KNOWN_TYPES
from logs import START_MS, event, frame, header, line, log_path
from tests.cassette import made

CANARY = "canary7f3"
"""In every text; in lower case, as the slug of a label would have it."""
TITLE = "canary9t1"
"""In titles, beside the other."""

_NAMES = (
    *("type", "name", "provider", "model", "responseModel", "api", "plugin", "toolName", "mediaType", "code"),
)
_WORDS = ("kind", "role", "reason", "status", "mode", "outcome", "cause", "origin", "surfaceOp", "stopReason")
_IDS = (
    *("id", "callId", "toolCallId", "messageId", "turnId", "retryId", "compactionId", "jobId", "runId"),
    *("childId", "subCallId", "rootCallId", "parentSession"),
)
_METADATA = frozenset((*_NAMES, *_WORDS, *_IDS, "version", "cwd", "agentPreset"))
"""Members that stay in a lake without content: ids, names of tools and models, codes, types, the folder."""


def write_canaries(folder: Path) -> Path:
    """The demo home, events of every type in every generation, cassettes, manifests: all with canaries."""
    home = folder / "home"
    write_home(home)
    for log in sorted(home.glob("sessions/*/*/session*.jsonl*")):
        log.write_bytes(_planted(log.read_bytes(), is_plain=log.suffix == ".jsonl"))
    for version in range(5):
        lines = [_header(version), *_every_type(version), *_packed(version), *_damaged()]
        log_path(home, f"all-{version}", version=version).write_bytes(frame(lines[0]) + frame(*lines[1:]))
    torn = (
        frame(_header(4), event("user/message", 0, _content()))
        + frame(event("turn/start", 1, _content()))[:-3]
    )
    log_path(home, "torn").write_bytes(torn)
    headless = {"type": CANARY, "x": CANARY}
    log_path(home, "headless").write_bytes(frame(line(headless), b'{"' + CANARY.encode() + b"\n"))
    _write_cassettes(home / "cassettes")
    _write_fixtures(folder / "fixtures")
    return home


def _header(version: int) -> bytes:
    return header(f"all-{version}", version, extra=CANARY)


def _planted(content: bytes, *, is_plain: bool) -> bytes:
    unpacked = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)
    text = content if is_plain else unpacked.decompress(content)
    lines = [json.loads(one) for one in text.splitlines() if one.endswith(b"}")]
    written = b"".join(line(_marked(one, "")) for one in lines)
    return written if is_plain else frame(written)


def _marked(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _marked(member, name) for name, member in value.items()}
    if isinstance(value, list):
        return [_marked(member, key) for member in value]
    if not isinstance(value, str) or key in _METADATA:
        return value
    if key == "arguments" and value.startswith("{"):
        return json.dumps(_marked(json.loads(value), ""))
    return f"{CANARY} {TITLE} {value}" if key == "title" else f"{CANARY} {value}"


def _content() -> dict[str, Any]:
    """Members that events have somewhere, with texts."""
    block = {"type": "text", "text": CANARY}
    blocks = [block, {"type": "reasoning", "text": CANARY}, {"type": "image", "attachment": {"name": CANARY}}]
    failure = {"name": "E", "code": "X", "message": CANARY, "status": 500}
    message = {
        "id": "m", "role": "user", "content": blocks,
        "source": {"kind": "user", "callId": "c", "text": CANARY},
    }  # fmt: skip
    return {
        "turn": 1, "step": 1, "id": "i", "callId": "c", "name": "bash", "arguments": f'{{"a":"{CANARY}',
        "title": f"{CANARY} {TITLE}", "label": CANARY, "text": CANARY, "detail": f"exit code: 1 {CANARY}",
        "content": blocks, "message": message, "error": failure, "failure": failure, "goal": CANARY,
        "reason": {"kind": "error", "error": failure, "reason": {"kind": "x", "text": CANARY}},
        "todos": [{"content": CANARY, "status": "pending", CANARY: 1}], "prompt": CANARY, "summary": CANARY,
        "header": {"system": CANARY, "tools": [{"name": "bash", "description": CANARY}]}, "output": CANARY,
        "chunk": {"type": "text-delta", "index": 0, "text": CANARY, "args": CANARY, "delta": CANARY},
        "stream": [{"time": 1, "type": "text-delta", "text": CANARY, "delta": CANARY}], "result": CANARY,
        "usage": {"inputTokens": CANARY, "outputTokens": 1, "cacheReadTokens": CANARY}, CANARY: CANARY,
    }  # fmt: skip


def _every_type(version: int) -> Iterator[bytes]:
    """Each known type and an unknown one, with all members and with some that it would be refused for."""
    seq = 0
    for kind in (*sorted(KNOWN_TYPES), "unknown/type"):
        content = _content()
        odd = [
            {"reason": "aborted"},
            {"header": None},
            {"message": CANARY},
            {"stream": CANARY, "turn": CANARY},
        ]
        for data in (content, *(content | one for one in odd), {"turn": 1, "data": CANARY}, CANARY):
            yield event(kind, seq, data, surfaceOp="append", extra=CANARY)  # type: ignore[arg-type]
            seq += 1


def _packed(version: int) -> Iterator[bytes]:
    about = {"turn": 1, "step": 1, "index": 0, "dt": [1]}
    for kind, texts in (
        ("text-chunks", "texts"),
        ("reasoning-chunks", "texts"),
        ("tool-call-chunks", "args"),
    ):
        data = about | {texts: [CANARY, f"x {CANARY}"], "id": "c", "name": "bash"}
        yield line({"type": kind, "seq0": 900, "time0": START_MS, "data": data})
        yield line({"type": kind, "seq0": 902, "time0": START_MS, "data": data | {"dt": CANARY}})


def _damaged() -> Iterator[bytes]:
    yield f'{{"type":"user/message","seq":950,"data":{{"text":"{CANARY}\n'.encode()
    yield f'"{CANARY}"\n{CANARY}\n["{CANARY}"]\n{{"{CANARY}":1}}\n{{"type":"a","seq":"{CANARY}"}}\n'.encode()
    yield b'{"type":"user/message","seq":951,"data":{"text":"' + CANARY.encode() + b'\xff"}}\n'
    yield event("user/message", 952, {"text": CANARY}, time=CANARY)
    yield line({"type": "session", "version": 4, "id": "second", "cwd": CANARY})


def _write_cassettes(folder: Path) -> None:
    folder.mkdir(parents=True)
    request = {"prompt": [{"type": "text", "text": CANARY}], "label": f"{CANARY} label", "persona": CANARY}
    failed = {"kind": "result-error", "error": {"name": "E", "message": CANARY, "code": "C"}}
    output = [{"type": "text", "text": CANARY}]
    ended = {"kind": "result", "redactions": 0, "result": {"output": output, "stopReason": "completed"}}
    for storage in ("metadata", "full"):
        calls = [(request, failed, "root"), (request, ended, f"root/{CANARY}-label-0123456789ab~1")]
        path = made.write(folder / f"{storage}.cassette.jsonl", made.bodies(calls, storage), storage)
        text = path.read_text("utf-8")
        for number, (old, new) in enumerate(
            (
                ('"kind":"result"', f'"{CANARY}":"{CANARY}","kind":"result"'),
                ('"version":1', f'"version":"{CANARY}"'),
                ('"format":"', f'"format":"{CANARY}'),
                ('"dshSubagent":"', f'"dshSubagent":"{CANARY}'),
                ('"capabilities":{', f'"capabilities":{{"{CANARY}":"{CANARY}",'),
                ('"redactionPatterns":[', f'"redactionPatterns":["{CANARY}"'),
                ("\n", f'\n{{"{CANARY}":1,"{CANARY}":2}}\n{CANARY}\n'),
                ("\n", f"\n{text.splitlines()[1]}\n"),
            )
        ):
            (folder / f"odd-{storage}-{number}.cassette.jsonl").write_text(text.replace(old, new), "utf-8")


def _write_fixtures(folder: Path) -> None:
    whole = (
        "version: 1\nscenario: one\nprofile: headless\ncomposition: c\nrecording: live\n"
        f"input:\n  task: {CANARY}\n"
    )
    manifests = (
        f"{whole}environment:\n  NAME: {CANARY}\nheader:\n  class: one\n",
        f"{whole}{CANARY}: 1\n",
        f"{whole}x: *{CANARY}\n",
        f"{whole}x: !{CANARY} y\n",
        f'{whole}x: "{CANARY}\n',
        f"{whole}{CANARY}\n",
        f"- {CANARY}\n",
        f"{whole}workspace:\n  {CANARY}: {CANARY}\n",
        whole.replace("profile: headless", f"profile: {CANARY}"),
    )
    for number, text in enumerate(manifests):
        scenario = folder / "suite" / f"scenario-{number}"
        scenario.mkdir(parents=True)
        (scenario / "snapshot.yml").write_text(text, "utf-8")
        (scenario / "session.v4.jsonl").write_bytes(
            header(f"s{number}") + event("user/message", 0, _content())
        )
