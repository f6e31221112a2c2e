"""Which usage sample stands in the place of which: the harness's own fold, found while a log is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from tests import logs

Event = tuple[str, int, int]
"""Kind of an event, its turn and its step."""


def spelled(seq: int, kind: str, turn: int, step: int) -> bytes:
    """The event as a v4 log has it; samples state counts that can be told apart."""
    if kind == "message":
        return logs.assistant(seq, turn, step, tokens=seq)
    data: dict[str, Any] = {"turn": turn, "step": step}
    if kind == "attempt":
        data |= {
            "source": {"kind": "model", "provider": "p", "model": "m"},
            "usage": logs.usage(seq),
            "stream": [],
        }
        return logs.event("assistant/attempt", seq, data)
    if kind == "retry":
        return logs.event("llm/retry-started", seq, data | {"retryId": "r", "retry": 1})
    return logs.event("compaction/summary", seq, data | {"compactionId": "c", "usage": logs.usage(seq)})


def log_of(path: Path, *events: Event) -> Path:
    lines = [spelled(seq, *event) for seq, event in enumerate(events)]
    path.write_bytes(logs.frame(logs.header("s")) + b"".join(map(logs.frame, lines)))
    return path


def replaced(folder: Path, *events: Event) -> list[int]:
    """Positions of the events whose sample another one replaces."""
    usage = dsh_lake.read_session(log_of(folder / "session.v4.jsonl.zstd", *events))["usage"].to_pylist()
    return [row["seq"] for row in usage if row["is_replaced"]]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param(
            [("attempt", 1, 1), ("attempt", 1, 1), ("message", 1, 1)], [0, 1], id="one after another"
        ),
        pytest.param(
            [("message", 1, 1), ("message", 1, 2), ("message", 1, 1), ("message", 2, 1)],
            [],
            id="the one before is of another step or turn",
        ),
        pytest.param(
            [("attempt", 1, 1), ("compaction", 1, 1), ("message", 1, 1), ("compaction", 1, 1)],
            [0],
            id="a summary's call is beside the fold",
        ),
        pytest.param(
            [("attempt", 1, 1), ("retry", 1, 1), ("attempt", 1, 1), ("message", 1, 1)],
            [2],
            id="both sides of a retry were billed",
        ),
        pytest.param(
            [("retry", 1, 1), ("attempt", 1, 1), ("message", 1, 1), ("retry", 1, 1)],
            [1],
            id="a retry before or after them",
        ),
        pytest.param(
            [("attempt", 1, 1), ("retry", 1, 2), ("retry", 2, 1), ("message", 1, 1)],
            [0],
            id="a retry of another step or turn",
        ),
    ],
)
def test_the_fold(tmp_path: Path, events: list[Event], expected: list[int]) -> None:
    assert replaced(tmp_path, *events) == expected


@pytest.mark.parametrize("between", [[], [("retry", 1, 1)]], ids=["replaced", "retried"])
def test_it_goes_on_where_the_last_scan_ended(tmp_path: Path, between: list[Event]) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    path = logs.log_path(home, "s")
    first: list[Event] = [("attempt", 1, 1), *between]
    for events in (first, [*first, ("message", 1, 1)]):
        log_of(path, *events)
        dsh_lake.scan(home, lake=lake)
    with dsh_lake.connect(lake) as connection:
        found = connection.sql("select seq from usage where is_replaced").fetchall()
        batches = connection.sql("select distinct batch from stored.usage").fetchall()
    assert found == ([] if between else [(0,)])
    assert len(batches) == 2, "the second scan read on and read nothing again"


def test_what_is_recovered_replaces_nothing_that_counts(tmp_path: Path) -> None:
    path = log_of(tmp_path / "session.v4.jsonl.zstd", ("attempt", 1, 1))
    torn = logs.frame(spelled(1, "attempt", 1, 1), spelled(2, "message", 1, 1), b"x" * 5000)[:-4]
    path.write_bytes(path.read_bytes() + torn)
    usage = dsh_lake.read_session(path)["usage"].to_pylist()
    assert [(row["is_recovered"], row["is_replaced"]) for row in usage] == [
        (False, False),
        (True, True),
        (True, False),
    ]
