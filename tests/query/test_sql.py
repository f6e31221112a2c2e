"""``dsh_lake.sql``: what it answers, with which types, as of which scan."""

from __future__ import annotations

import datetime as dt
import shutil
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import dsh_lake
from demo_lake import DemoLake
from dsh_lake.errors import LakeError, NotALake, QueryFailed
from dsh_lake.readonly import BATCH_ROWS, read_rows
from logs import frame, header, log_path, user


def test_the_lake_answers_what_was_counted_when_it_was_written(demo: DemoLake) -> None:
    counts = dsh_lake.sql("select sessions, tool_calls, total_tokens from lake_summary", demo.lake)
    assert counts.to_pylist() == [
        {
            "sessions": demo.truth["sessions"],
            "tool_calls": demo.truth["tool_calls"],
            "total_tokens": demo.truth["tokens"]["total"],
        }
    ]


def test_parameters_are_values_and_never_text_of_the_query(demo: DemoLake) -> None:
    hostile = "x'; drop view sessions; --"
    answer = dsh_lake.sql(
        "select $text as text, $n + 1 as n", demo.lake, parameters={"text": hostile, "n": 2}
    )
    assert answer.to_pylist() == [{"text": hostile, "n": 3}]
    with pytest.raises(QueryFailed, match="parameter"):
        dsh_lake.sql("select $text", demo.lake)


def test_an_earlier_scan_can_be_asked(demo: DemoLake, tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    shutil.copytree(demo.home, home)
    first = dsh_lake.scan(home, lake=lake, jobs=1)
    (log,) = home.glob("sessions/*/*/session.v4.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"turn/start"', b'"turn/begun"'))
    second = dsh_lake.scan(home, lake=lake, jobs=1)
    turns = "select sum(turns)::int as turns from session_summary"
    (before,) = dsh_lake.sql(turns, lake, as_of=first["scan_id"])["turns"].to_pylist()
    (after,) = dsh_lake.sql(turns, lake)["turns"].to_pylist()
    assert before - after == 2
    assert dsh_lake.sql(turns, lake, as_of=second["scan_id"])["turns"].to_pylist() == [after]
    with pytest.raises(LakeError, match="no scan 'nope'"):
        dsh_lake.sql(turns, lake, as_of="nope")


def test_without_a_lake_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NotALake, match="dsh-lake scan"):
        dsh_lake.sql("select 1", tmp_path / "nothing")


def test_types_arrive_as_what_they_are(demo: DemoLake) -> None:
    query = """
    select
        sum(i)::hugeint as huge, 1.50::decimal(10, 2) as price, '2026-11-30'::date as day,
        '2026-11-30 12:00:00+00'::timestamptz as instant, [1, null] as list, {'a': {'b': 'c'}} as nested,
        null::bigint as unknown, true as flag
    from range(5) t(i)
    """
    (row,) = dsh_lake.sql(query, demo.lake).to_pylist()
    assert row == {
        "huge": Decimal(10),
        "price": Decimal("1.50"),
        "instant": dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC),
        "day": dt.date(2026, 11, 30),
        "list": [1, None],
        "nested": {"a": {"b": "c"}},
        "unknown": None,
        "flag": True,
    }


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("340282366920938463463374607431768211455::uhugeint", "340282366920938463463374607431768211455"),
        ("'12:30:00+02'::timetz", "12:30:00+02"),
        ("'10110'::bit", "10110"),
        ("[1::uhugeint]", "[1]"),
        ("{'a': '101'::bit}", "{'a': 101}"),
        ("union_value(a := 5)", "5"),
        (
            "123456789012345678901234567890123456789012345::bignum",
            "123456789012345678901234567890123456789012345",
        ),
    ],
)
def test_values_that_arrow_cannot_hold_are_text(expression: str, text: str, demo: DemoLake) -> None:
    answer = dsh_lake.sql(f'select {expression} as "a ""b", 1 as other', demo.lake)
    assert answer.to_pylist() == [{'a "b': text, "other": 1}]


def test_two_columns_of_one_name_get_two_names(demo: DemoLake) -> None:
    assert dsh_lake.sql("select 1 as a, 2 as a", demo.lake).to_pylist() == [{"a": 1, "a_1": 2}]


def test_rows_come_in_bounded_batches(demo: DemoLake) -> None:
    with read_rows("select i, 'text' as t from range(20000) t(i)", demo.lake) as rows:
        assert rows.schema.field("t").type == pa.large_string()
        sizes = [batch.num_rows for batch in rows]
    assert sum(sizes) == 20_000
    assert max(sizes) <= BATCH_ROWS


def test_the_shape_of_an_empty_answer_is_known(demo: DemoLake) -> None:
    answer = dsh_lake.sql("from sessions limit 0", demo.lake)
    assert answer.num_rows == 0
    assert answer.schema.names[:2] == ["session_id", "source_id"]


def test_a_lake_may_lie_in_a_folder_of_an_unusual_name(tmp_path: Path) -> None:
    log_path(tmp_path / "home", "one").write_bytes(frame(header("one")) + frame(user(0, "hello")))
    lake = tmp_path / "it's [a] st*r, {中文}"
    for _ in range(2):
        scan_id = dsh_lake.scan(tmp_path / "home", lake=lake, jobs=1)["scan_id"]
        query = "select count(*)::int as n from events"
        for as_of in (None, scan_id):
            assert dsh_lake.sql(query, lake, as_of=as_of)["n"].to_pylist() == [1]
    assert dsh_lake.doctor(lake)["ok"]
