"""Values as text and in JSON: the same in every format, and nothing lost on the way."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.formats import WRITERS
from dsh_lake.spelling import instant_text, json_columns, json_encoder, text_column

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


def written(rows: pa.Table, name: str) -> bytes:
    sink = io.BytesIO()
    WRITERS[name](rows.to_reader(max_chunksize=3), sink)
    return sink.getvalue()


def answered(query: str) -> pa.Table:
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        return connection.sql(query).to_arrow_table()


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'2026-11-30 12:00:00+00'::timestamptz", "2026-11-30T12:00:00.000000Z"),
        ("'2026-11-30 12:00:00.000001+02'::timestamptz", "2026-11-30T10:00:00.000001Z"),
        ("'2026-11-30 12:00:00'::timestamp", "2026-11-30T12:00:00.000000"),
        ("'2026-11-30 12:00:00'::timestamp_s", "2026-11-30T12:00:00"),
        ("'2026-11-30 12:00:00.123456789'::timestamp_ns", "2026-11-30T12:00:00.123456789"),
        ("'1969-12-31 23:59:59.9+00'::timestamptz", "1969-12-31T23:59:59.900000Z"),
        ("'0001-01-01 00:00:00+00'::timestamptz", "0001-01-01T00:00:00.000000Z"),
        ("'9999-12-31 23:59:59.999999+00'::timestamptz", "9999-12-31T23:59:59.999999Z"),
        ("'275760-09-13 00:00:00+00'::timestamptz", "+275760-09-13T00:00:00.000000Z"),
        ("'0044-03-15 (BC) 10:00:00+00'::timestamptz", "-0043-03-15T10:00:00.000000Z"),
        ("'infinity'::timestamptz", "infinity"),
        ("'-infinity'::timestamp", "-infinity"),
        ("'2024-02-29'::date", "2024-02-29"),
        ("'12024-02-29'::date", "+12024-02-29"),
        ("'infinity'::date", "infinity"),
        ("'00:00:00'::time", "00:00:00.000000"),
        ("'24:00:00'::time", "24:00:00.000000"),
        ("interval '1 year 2 months 3 days 4 hours 5.25 seconds'", "P14M3DT14405.25S"),
        ("interval '-1 day'", "P0M-1DT0S"),
        ("'\\x00\\xFFa'::blob", "00ff61"),
        ("'y'::enum('x', 'y')", "y"),
        ("170141183460469231731687303715884105727::hugeint", "170141183460469231731687303715884105727"),
        ("1.50::decimal(10, 2)", "1.50"),
        ("0.1::float", "0.1"),
        ("1e300::double", "1e+300"),
        ("true", "true"),
        ("[1, null, 2]", "[1,null,2]"),
        ("[1, 2]::int[2]", "[1,2]"),
        ("{'a': 1.50::decimal(4, 2), 'é': 'x\"y'}", '{"a":1.50,"é":"x\\"y"}'),
        ("['2026-11-30 12:00:00+00'::timestamptz]", '["2026-11-30T12:00:00.000000Z"]'),
        ("[{'at': 'infinity'::timestamptz}]", '[{"at":"infinity"}]'),
        ("map {'k': [1], 'null': null}", '{"k":[1],"null":null}'),
        ("map {1: 'one'}", '{"1":"one"}'),
        ("['nan'::double, 'inf'::double, 1]", "[null,null,1.0]"),
        ("[0.1::float]", "[0.1]"),
        ("[interval '1 day', null]", '["P0M1DT0S",null]'),
        ("[{'b': 'x'::blob}, null]", '[{"b":"78"},null]'),
        ("[]::int[]", "[]"),
    ],
)
def test_a_value_as_text(expression: str, text: str) -> None:
    rows = answered(f"select {expression} as v union all select null")
    assert [one for chunk in rows["v"].chunks for one in text_column(chunk)] == [text, None]


def test_a_part_of_a_column_is_spelled_as_the_whole() -> None:
    rows = answered(
        "select [{'a': i, 't': [i::text]}] as v, map {i: [i]} as m, [i, i]::int[2] as f from range(9) t(i)"
    )
    for column in rows.columns:
        (whole,) = column.chunks if column.num_chunks == 1 else (column.combine_chunks(),)
        assert text_column(whole.slice(3, 4)) == text_column(whole)[3:7]


@given(
    st.lists(st.one_of(st.none(), st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)), min_size=1)
)
def test_instants_are_those_that_the_standard_library_spells(instants: list[int | None]) -> None:
    texts = text_column(pa.array(instants, pa.timestamp("us", "UTC")))
    epoch = dt.datetime(1970, 1, 1)
    expected = [
        None
        if at is None
        else (epoch + dt.timedelta(microseconds=at)).isoformat(timespec="microseconds") + "Z"
        for at in instants
    ]
    assert texts == expected
    assert [instant_text(at) for at in instants] == expected


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5))
def test_years_of_any_length_can_be_read_back(instants: list[int]) -> None:
    texts = [text or "" for text in text_column(pa.array(instants, pa.timestamp("us", "UTC")))]
    for at, text in zip(instants, texts, strict=True):
        day, _, clock = text.removesuffix("Z").partition("T")
        year, month, date = day.rsplit("-", 2)
        # 400 years are always the same number of days, so a year of four digits stands for it.
        near = dt.datetime.fromisoformat(f"{int(year) % 400 + 2000:04d}-{month}-{date}T{clock}")
        shifted = near - dt.datetime(1970, 1, 1)
        cycles = (int(year) - near.year) // 400
        assert shifted // dt.timedelta(microseconds=1) + cycles * 146_097 * 86_400_000_000 == at


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | TEXTS,
            "number": st.none() | st.integers(-(2**63), 2**63 - 1),
            "share": st.none() | st.floats(allow_nan=False, allow_infinity=False),
            "price": st.none() | st.decimals(-(10**9), 10**9, places=3),
            "flag": st.none() | st.booleans(),
            "nested": st.none()
            | st.lists(st.fixed_dictionaries({"t": TEXTS, "n": st.none() | st.integers(0, 9)}), max_size=2),
        }
    ),
    max_size=7,
)
SCHEMA = pa.schema(
    {
        "text": pa.large_string(),
        "number": pa.int64(),
        "share": pa.float64(),
        "price": pa.decimal128(38, 3),
        "flag": pa.bool_(),
        "nested": pa.large_list(pa.struct({"t": pa.large_string(), "n": pa.int64()})),
    }
)


@given(ROWS)
def test_json_gives_every_value_back(rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    expected = [row | {"price": None if row["price"] is None else Decimal(row["price"])} for row in rows]

    def read(text: bytes) -> Any:
        return json.loads(text, parse_float=Decimal)

    lines = [read(line) for line in written(table, "ndjson").splitlines()]
    array = read(written(table, "json"))
    for found in (lines, array):
        for row in found:
            row["share"] = None if row["share"] is None else float(row["share"])
            row["price"] = None if row["price"] is None else Decimal(row["price"])
        assert found == expected


FORMULA_BEGINS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What spreadsheets take for the beginning of a formula."""


@given(ROWS)
def test_csv_gives_every_value_back(rows: list[dict[str, Any]]) -> None:
    text = written(pa.Table.from_pylist(rows, SCHEMA), "csv").decode()
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(found) == len(rows)
    for row, cells in zip(rows, found, strict=True):
        assert not cells["text"].startswith(FORMULA_BEGINS)
        assert cells["text"].removeprefix("'") == (row["text"] or "")
        assert cells["number"] == ("" if row["number"] is None else str(row["number"]))
        assert (float(cells["share"]) if cells["share"] else None) == row["share"]
        assert (Decimal(cells["price"]) if cells["price"] else None) == row["price"]
        assert cells["flag"] == {None: "", True: "true", False: "false"}[row["flag"]]
        assert (json.loads(cells["nested"]) if cells["nested"] else None) == row["nested"]


def test_csv_runs_nothing_in_a_spreadsheet() -> None:
    given_and_written = {
        "=1+1": "'=1+1",
        '=HYPERLINK("http://x")': '\'=HYPERLINK("http://x")',
        "@SUM(A1)": "'@SUM(A1)",
        "-2": "'-2",
        "\t=1": "'\t=1",
        "\uff1d1": "'\uff1d1",
        "'tis": "''tis",
        "a=1": "a=1",
    }
    table = pa.table({"=name": pa.array(given_and_written, pa.large_string()), "n": range(-1, 7)})
    header, *rows = csv.reader(io.StringIO(written(table, "csv").decode(), newline=""))
    assert header == ["'=name", "n"]
    assert [name for name, _ in rows] == list(given_and_written.values())
    # Numbers are no texts: they keep their sign.
    assert [number for _, number in rows] == ["-1", "0", "1", "2", "3", "4", "5", "6"]


def test_csv_tells_an_empty_text_from_nothing() -> None:
    assert written(pa.table({"a": ["", None], "b": [1, None]}), "csv") == b'"a","b"\n"",1\n,\n'


@given(ROWS)
def test_parquet_gives_the_table_back(rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    assert pq.read_table(io.BytesIO(written(table, "parquet"))).equals(table)


@given(st.lists(TEXTS, max_size=5))
def test_a_markdown_table_has_one_line_a_row_and_no_markup(texts: list[str]) -> None:
    lines = written(pa.table({"a|b": pa.array(texts, pa.large_string())}), "markdown").decode().split("\n")
    assert lines[:2] == ["| a\\|b |", "| --- |"]
    assert len(lines) == len(texts) + 3
    for text, line in zip(texts, lines[2:], strict=False):
        bare = line
        for escaped in ("\\\\", "\\|", "\\`", "\\*", "\\_", "\\[", "\\]", "\\~", "\\#"):
            bare = bare.replace(escaped, "")
        assert bare.count("|") == 2
        assert not set("`*_[]~#") & set(bare)
        assert "<" not in bare.replace("<br>", "")
        assert bare.count("<br>") == text.replace("\r\n", "\n").count("\n")


def test_formats_of_no_rows() -> None:
    nothing = pa.table({"a": pa.array([], pa.int64())})
    assert written(nothing, "json") == b"[]\n"
    assert written(nothing, "ndjson") == b""
    assert written(nothing, "csv") == b'"a"\n'
    assert written(nothing, "markdown") == b"| a |\n| ---: |\n"
    assert pq.read_table(io.BytesIO(written(nothing, "parquet"))).equals(nothing)


def test_an_interval_is_text_in_parquet() -> None:
    rows = answered("select interval '2 days' as i")
    assert pq.read_table(io.BytesIO(written(rows, "parquet"))).to_pylist() == [{"i": "P0M2DT0S"}]


def test_json_is_json_whatever_the_numbers_are() -> None:
    rows = answered("select unnest(['nan'::double, 'inf', '-inf', 1e-300]) as v")
    values = [json_encoder().encode(value) for batch in rows.to_batches() for value in json_columns(batch)[0]]
    assert values == [b"null", b"null", b"null", b"1e-300"]
