"""Session logs made for tests: lines as the runtime spells them, framed as it frames them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import zstandard

START_MS = 1_796_000_000_000


def line(record: dict[str, Any]) -> bytes:
    """One line, LF included."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def header(session: str, version: int = 4, **more: Any) -> bytes:
    """The header line of a session."""
    record = {"type": "session", "version": version, "id": session, "createdAt": START_MS, "cwd": "/w"}
    if version >= 2:
        record["isSeeded"] = False
    return line(record | {"delegationDepth": 0} | more)


def event(kind: str, seq: int, data: dict[str, Any], **more: Any) -> bytes:
    """An event line; its time is made from its seq."""
    return line({"type": kind, "seq": seq, "time": START_MS + 10 * seq, "data": data, **more})


def frame(*lines: bytes) -> bytes:
    """A checksummed zstd frame that holds the lines."""
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(b"".join(lines))


def usage(tokens: int) -> dict[str, int]:
    """A usage object whose counts can be told apart."""
    return {"inputTokens": tokens, "outputTokens": 2 * tokens, "cacheReadTokens": 3 * tokens}


def assistant(seq: int, turn: int, step: int, tokens: int | None) -> bytes:
    """An assistant message, with usage unless ``tokens`` is None."""
    source = {"kind": "model", "provider": "p", "model": "m"}
    content = [{"type": "text", "text": "hi"}]
    message = {"id": f"a{seq}", "role": "assistant", "content": content, "source": source}
    data: dict[str, Any] = {"turn": turn, "step": step, "message": message, "stream": []}
    if tokens is not None:
        data["usage"] = usage(tokens)
    return event("assistant/message", seq, data, surfaceOp="append")


def user(seq: int, text: str, kind: str = "user") -> bytes:
    """A user message."""
    content = [{"type": "text", "text": text}]
    data = {"id": f"u{seq}", "role": "user", "content": content, "source": {"kind": kind}}
    return event("user/message", seq, data, surfaceOp="append")


def call(seq: int, call_id: str, name: str = "bash", arguments: str = '{"command":"ls"}') -> bytes:
    """A tool call."""
    data = {"turn": 1, "step": 1, "callId": call_id, "name": name, "arguments": arguments}
    return event("tool/call", seq, data)


def result(
    seq: int, call_id: str, *, text: str = "out", is_error: bool = False, message_id: str | None = None
) -> bytes:
    """A tool result as v4 spells it."""
    message = {
        "role": "tool",
        "source": {"kind": "tool", "callId": call_id},
        "toolCallId": call_id,
        "isError": is_error,
        "content": [{"type": "text", "text": text}],
        "id": message_id or f"r{seq}",
    }
    return event("tool/result", seq, {"turn": 1, "step": 1, "message": message}, surfaceOp="append")


def log_path(
    home: Path, session: str, workspace: str = "--w--", version: int = 4, suffix: str = ".zstd"
) -> Path:
    """Where a home keeps the log of a session; its folder is made."""
    folder = home / "sessions" / workspace / session
    folder.mkdir(parents=True, exist_ok=True)
    generation = "" if version == 0 else f".v{version}"
    return folder / f"session{generation}.jsonl{suffix}"
