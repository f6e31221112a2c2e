"""Which model a reply was asked of, and so which model made a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dsh_lake
from tests import logs


def step(seq: int, number: int) -> bytes:
    return logs.event("step/start", seq, {"turn": 1, "step": number})


def reply(seq: int, step_number: int, model: str | None) -> bytes:
    source = {} if model is None else {"source": {"kind": "model", "provider": "p", "model": model}}
    message = {"id": f"a{seq}", "role": "assistant", "content": [], **source}
    return logs.event(
        "assistant/message", seq, {"turn": 1, "step": step_number, "message": message, "stream": []}
    )


def rows(folder: Path, table: str, *events: bytes, version: int = 4) -> list[dict[str, Any]]:
    path = folder / "session.jsonl"
    path.write_bytes(logs.header("s", version) + b"".join(events))
    return dsh_lake.read_session(path)[table].to_pylist()


def test_a_call_is_of_the_model_of_the_last_reply_in_its_step(tmp_path: Path) -> None:
    calls = rows(
        tmp_path,
        "tool_calls",
        step(0, 1),
        reply(1, 1, "alpha"),
        logs.call(2, "a"),
        reply(3, 1, "beta"),
        logs.call(4, "b"),
    )
    assert [(call["call_id"], call["model"]) for call in calls] == [("a", "alpha"), ("b", "beta")]


def test_a_call_outside_of_the_reply_s_step_has_none(tmp_path: Path) -> None:
    step_end = logs.event("step/end", 2, {"turn": 1, "step": 1})
    adrift = logs.event("tool/call", 3, {"callId": "a", "name": "bash", "arguments": "{}"})
    later = logs.event(
        "tool/call", 4, {"turn": 1, "step": 2, "callId": "b", "name": "bash", "arguments": "{}"}
    )
    calls = rows(tmp_path, "tool_calls", step(0, 1), reply(1, 1, "alpha"), step_end, adrift, later)
    assert [(call["call_id"], call["step"], call["model"]) for call in calls] == [
        ("a", None, None),
        ("b", 2, None),
    ]


def test_a_re_rendering_is_no_reply(tmp_path: Path) -> None:
    again = logs.event(
        "assistant/message",
        2,
        {
            "turn": 1,
            "step": 1,
            "message": {"role": "assistant", "content": [], "source": {"kind": "model", "model": "beta"}},
        },
        surfaceOp={"op": "replace", "startSeq": 1, "endSeq": 1},
    )
    calls = rows(tmp_path, "tool_calls", step(0, 1), reply(1, 1, "alpha"), again, logs.call(3, "a"))
    assert [call["model"] for call in calls] == ["alpha"]


def test_a_turn_and_a_failed_attempt_belong_to_the_open_request(tmp_path: Path) -> None:
    asked = logs.event("request/context", 0, {"provider": "p", "model": "alpha", "contextWindow": 9})
    began = logs.event("turn/start", 1, {"turn": 1})
    failed = logs.event("assistant/attempt", 2, {"turn": 1, "step": 1, "stream": []})
    facts = rows(tmp_path, "event_facts", asked, began, failed)
    assert [(fact["type"], fact["provider"], fact["model"]) for fact in facts] == [
        ("request/context", "p", "alpha"),
        ("turn/start", "p", "alpha"),
        ("assistant/attempt", "p", "alpha"),
    ]


def test_a_reply_that_names_no_model_is_of_the_one_that_was_asked(tmp_path: Path) -> None:
    asked = logs.event("request/context", 0, {"provider": "p", "model": "alpha", "contextWindow": 9})
    events = [asked, step(1, 1), reply(2, 1, None), logs.call(3, "a"), logs.user(4, "hi")]
    messages = rows(tmp_path, "messages", *events, version=0)
    assert [(message["role"], message["model"]) for message in messages] == [
        ("assistant", "alpha"),
        ("user", None),
    ]
    assert [call["model"] for call in rows(tmp_path, "tool_calls", *events, version=0)] == ["alpha"]


def test_the_reply_may_have_been_read_by_an_earlier_scan(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    path = logs.log_path(home, "s")
    path.write_bytes(logs.frame(logs.header("s"), step(0, 1), reply(1, 1, "alpha")))
    dsh_lake.scan(home, lake=lake)
    with path.open("ab") as file:
        file.write(logs.frame(logs.call(2, "a")))
    dsh_lake.scan(home, lake=lake)
    with dsh_lake.connect(lake) as connection:
        assert connection.sql("select model from tool_calls").fetchall() == [("alpha",)]
