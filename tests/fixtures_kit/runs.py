"""Logs of small made-up runs, complete as a harvest has them, in the oldest generation and in the newest."""

from __future__ import annotations

import json
from typing import Any

Record = dict[str, Any]
CWD = "/tmp/run-7f3"
SESSION = "aaaaaaaa-0000-4000-8000-0000000000f0"
CHILD = "aaaaaaaa-0000-4000-8000-0000000000f1"


def message_id(number: int) -> str:
    return f"aaaaaaaa-0000-4000-8000-{number:012d}"


def text(content: str) -> list[Record]:
    return [{"type": "text", "text": content}]


def user(number: int, content: str, **source: Any) -> Record:
    """The data of a user message."""
    return {
        "content": text(content),
        "source": source or {"kind": "user"},
        "role": "user",
        "id": message_id(number),
    }


def rows(header: Record, *events: Record) -> str:
    """A complete log: events get dense positions, and clocks that run."""
    placed = [
        {"type": event["type"], "seq": seq, "time": 1_790_000_000_000 + seq, **event}
        for seq, event in enumerate(events)
    ]
    return "".join(
        json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n" for record in (header, *placed)
    )


def records(log: str) -> list[Record]:
    return [json.loads(line) for line in log.splitlines()]


def v0_header(**more: Any) -> Record:
    return {
        "type": "session",
        "version": 0,
        "id": SESSION,
        "createdAt": 1_790_000_000_000,
        "cwd": CWD,
        **more,
        "delegationDepth": 0,
    }


def v4_header(session: str = SESSION, cwd: str = CWD, **more: Any) -> Record:
    return {
        "type": "session",
        "version": 4,
        "id": session,
        "createdAt": 1_790_000_000_000,
        "cwd": cwd,
        **more,
        "isSeeded": False,
        "delegationDepth": 0,
    }


def chunk(**members: Any) -> Record:
    return {"type": "assistant/chunk", "data": {"turn": 1, "step": 1, "chunk": members}}


STOP = {"type": "finish", "reason": {"kind": "stop"}}
TURN = {"type": "turn/start", "data": {"turn": 1}}
STEP = {"type": "step/start", "data": {"turn": 1, "step": 1}}
STEP_END = {"type": "step/end", "data": {"turn": 1, "step": 1}}
TURN_END = {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "completed"}}}
REQUEST = {
    "type": "request/header",
    "data": {
        "header": {
            "config": {"provider": "p", "model": "m"},
            "system": "S",
            "tools": [{"name": "bash", "description": "", "parameters": {}}],
        },
        "reason": "initial",
    },
}


def answer(content: list[Record], number: int = 2) -> Record:
    """The message of an assistant."""
    return {
        "role": "assistant",
        "content": content,
        "source": {"kind": "model", "provider": "p", "model": "m"},
        "id": message_id(number),
    }


def v0_events() -> list[Record]:
    """The worked example of spec/session-generations.md section 7: a prompt, three deltas, an answer."""
    return [
        TURN,
        STEP,
        {"type": "user/message", "data": user(1, "hi"), "surfaceOp": "append"},
        REQUEST,
        chunk(type="block-start", index=0, blockType="text"),
        chunk(type="text-delta", index=0, text="a"),
        chunk(type="text-delta", index=0, text="b"),
        chunk(type="text-delta", index=0, text="c"),
        chunk(**STOP),
        {
            "type": "assistant/message",
            "data": {"turn": 1, "step": 1, "message": answer(text("abc"))},
            "sourceEventSeqs": [4, 5, 6, 7, 8],
            "surfaceOp": "append",
        },
        STEP_END,
        TURN_END,
    ]


def tool_events(cwd: str = CWD) -> list[Record]:
    """A v4 turn with a tool call that prints paths."""
    call = {"type": "tool-call", "id": "call_1", "name": "bash", "arguments": "{}"}
    shown = f"{cwd}/a.txt and {CWD}-other/b.txt and {cwd}."
    result = {
        "role": "tool",
        "source": {"kind": "tool", "callId": "call_1"},
        "toolCallId": "call_1",
        "content": text(shown),
        "isError": False,
        "id": message_id(4),
    }
    system = {
        "role": "system",
        "content": text("You are a harness."),
        "source": {"kind": "system-prompt"},
        "id": message_id(9),
    }
    header = {"config": {"provider": "p", "model": "m"}, "tools": [{"name": "bash", "description": "runs"}]}
    return [
        TURN,
        STEP,
        {
            "type": "system/message",
            "data": {"turn": 1, "step": 1, "message": system},
            "surfaceOp": "append",
        },
        {"type": "user/message", "data": user(1, f"look into {cwd}"), "surfaceOp": "append"},
        {"type": "request/header", "data": {"header": header, "reason": "initial"}},
        {
            "type": "assistant/message",
            "data": {
                "turn": 1,
                "step": 1,
                "message": answer([call]),
                "stream": [
                    {"type": "chunk", "time": 1_790_000_000_002, "chunk": STOP},
                    {
                        "type": "text-chunks",
                        "time0": 1_790_000_000_001,
                        "index": 0,
                        "dt": [5],
                        "texts": ["a", "b"],
                    },
                ],
            },
            "surfaceOp": "append",
        },
        {
            "type": "tool/call",
            "data": {"turn": 1, "step": 1, "callId": "call_1", "name": "bash", "arguments": "{}"},
        },
        {
            "type": "tool/result",
            "data": {"turn": 1, "step": 1, "message": result},
            "sourceEventSeqs": [6],
            "surfaceOp": "append",
        },
        STEP_END,
        TURN_END,
    ]
