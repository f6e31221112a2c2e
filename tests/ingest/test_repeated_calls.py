"""Whether a file uses a call id again is known after reading it: it decides how fast, not what, is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dsh_lake
from dsh_lake import catalog
from dsh_lake.ingest import state
from dsh_lake.ingest.source import read_source
from dsh_lake.schemas import ROW_TABLES
from dsh_lake.sources import discover
from dsh_lake.tables.sink import RowSink
from dsh_lake.views import SessionTables
from tests import logs
from tests.corpus import CORPUS

LOGS = sorted((CORPUS / "sessions").rglob("session*.jsonl*"))
ASKED = ("tool_calls", "tool_results", "call_results", "call_outcomes")


def stored(*paths: Path) -> dict[str, pa.Table]:
    """The stored rows of some logs."""
    plan = catalog.plan(discover(paths).files, {}, batch=1, read_all=True)
    sink = RowSink(with_content=True)
    for task in plan.tasks:
        catalog.apply_outcome(plan, read_source(task, sink), 1, set())
    rows = {name: pa.Table.from_batches([sink.take(name)]) for name in ROW_TABLES}
    return {**rows, "sources": catalog.to_table(plan.changed.values())}


def is_repeating(path: Path) -> bool:
    (row,) = stored(path)["sources"].to_pylist()
    return bool(row["has_repeated_calls"])


def write(folder: Path, *events: bytes) -> Path:
    path = folder / "session.v4.jsonl"
    path.write_bytes(logs.header("s") + b"".join(events))
    return path


CALL, RESULT = logs.call, logs.result


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([CALL(0, "a"), RESULT(1, "a"), CALL(2, "b")], False),
        ([CALL(0, "a"), RESULT(1, "a"), CALL(2, "a")], True),
        ([CALL(0, "a"), RESULT(1, "a"), RESULT(2, "a")], True),
        ([RESULT(0, "a"), CALL(1, "a")], False),
        ([logs.event("tool/result", 0, {"content": []})], True),
    ],
)
def test_it_is_known(tmp_path: Path, events: list[bytes], expected: bool) -> None:
    assert is_repeating(write(tmp_path, *events)) is expected


def test_an_id_from_before_the_last_scan_is_remembered(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    path = logs.log_path(home, "s")
    path.write_bytes(logs.frame(logs.header("s")) + logs.frame(CALL(0, "a"), RESULT(1, "a")))
    dsh_lake.scan(home, lake=lake)
    with path.open("ab") as file:
        file.write(logs.frame(CALL(2, "a"), RESULT(3, "a", is_error=True)))
    summary = dsh_lake.scan(home, lake=lake)
    assert (summary["sources"]["grown"], summary["tool_calls"], summary["tool_errors"]) == (1, 2, 1)


def test_marks_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MOST_CALL_MARKS", 3)
    three = [CALL(0, "a"), RESULT(1, "a"), CALL(2, "b")]
    assert not is_repeating(write(tmp_path, *three))
    assert is_repeating(write(tmp_path, *three, RESULT(3, "b")))


@pytest.mark.skipif(not LOGS, reason="the corpus is not here (../shared/corpus/sessions)")
def test_nothing_else_depends_on_it() -> None:
    """What is found of all logs, as they were read and as if ids were repeated in each of them."""
    tables, rows = SessionTables(), stored(*LOGS)
    sources = rows["sources"]
    at = sources.schema.get_field_index("has_repeated_calls")
    known = sources["has_repeated_calls"].to_pylist()
    doubtful = sources.set_column(at, sources.schema.field(at), pa.array([True] * len(known)))
    assert known.count(False) > len(known) / 2
    assert _ask(tables, {**rows, "sources": doubtful}) == _ask(tables, rows)


def _ask(tables: SessionTables, rows: dict[str, pa.Table]) -> list[list[dict[str, Any]]]:
    tables.put(rows)
    return [_without_flag(tables.fetch(f"from {name} order by all").to_pylist()) for name in ASKED]


def _without_flag(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "may_repeat"} for row in rows]
