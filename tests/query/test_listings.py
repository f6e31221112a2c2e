"""``sessions``, ``views`` and ``view``: what is there, and what can be asked."""

from __future__ import annotations

import pytest

import dsh_lake
from demo_lake import DemoLake
from dsh_lake import sqlassets
from dsh_lake.errors import UnknownQuery
from dsh_lake.schemas import TABLES


def test_sessions_come_newest_first_with_what_was_counted(demo: DemoLake) -> None:
    rows = dsh_lake.sessions(demo.lake).to_pylist()
    assert len(rows) == demo.truth["sessions"]
    times = [row["time"] for row in rows]
    assert times == sorted(times, reverse=True)
    assert sum(row["tools"] for row in rows) == demo.truth["tool_calls"]
    assert sum(row["errors"] for row in rows) == demo.truth["tool_errors"]
    assert sum(row["tokens"] or 0 for row in rows) == demo.truth["tokens"]["total"]
    assert len({row["session_id"] for row in rows}) == len(rows)


def test_the_columns_of_sessions_are_those_that_scripts_rely_on(demo: DemoLake) -> None:
    table = dsh_lake.sessions(demo.lake)
    assert table.schema.names == [
        "time",
        "title",
        "workspace",
        "model",
        "turns",
        "tools",
        "errors",
        "tokens",
        "cost",
        "currency",
        "unpriced_calls",
        "session_id",
    ]
    assert [str(table.schema.field(name).type) for name in ("time", "tokens", "cost")] == [
        "timestamp[us, tz=UTC]",
        "int64",
        "double",
    ]


def test_sessions_of_an_earlier_scan(demo: DemoLake) -> None:
    now = dsh_lake.sessions(demo.lake)
    assert dsh_lake.sessions(demo.lake, as_of=demo.summary["scan_id"]).equals(now)


def test_every_table_and_view_is_described_and_can_be_asked(demo: DemoLake) -> None:
    described = {one["name"]: one for one in dsh_lake.views()}
    assert set(described) == {name for kind in ("tables", "views", "checks") for name in sqlassets.load(kind)}
    connection = dsh_lake.connect(demo.lake)
    for name, one in described.items():
        assert one["doc"].endswith(".")
        assert one["grain"].startswith("one row")
        names = [column["name"] for column in one["columns"]]
        assert names
        assert connection.sql(f"from {name}").columns == names


def test_tables_say_what_each_column_is() -> None:
    described = {one["name"]: one for one in dsh_lake.views() if one["kind"] == "table"}
    assert set(described) == set(TABLES) & set(sqlassets.load("tables"))
    for one in described.values():
        assert all(column["doc"] for column in one["columns"]), one["name"]


def test_what_users_need_comes_first() -> None:
    kinds = [one["kind"] for one in dsh_lake.views()]
    order = ["table", "view", "check", "internal"]
    assert kinds == sorted(kinds, key=order.index)
    assert {one["name"] for one in dsh_lake.views() if one["kind"] == "internal"} >= {
        "source_status",
        "call_results",
    }


def test_one_view_comes_with_its_sql() -> None:
    one = dsh_lake.view("usage_by_day")
    assert one["sql"] == sqlassets.load("views")["usage_by_day"].text
    assert {"name": "day", "type": "DATE", "doc": None} in one["columns"]


def test_a_view_that_is_not_there_is_said() -> None:
    with pytest.raises(UnknownQuery, match="dsh-lake views"):
        dsh_lake.view("nope")
