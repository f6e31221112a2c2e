"""Rows in every format, held against golden files, and against values that were written down by hand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cli.runs import GOLDEN, Cli
from demo_lake import DemoLake

QUERY = GOLDEN / "every_type.sql"
ENDINGS = {"table": "txt", "json": "json", "csv": "csv", "ndjson": "ndjson", "markdown": "md"}

BY_HAND = {
    "instant": "2026-11-30T12:00:00.000000Z",
    "last_instant": "+275760-09-13T00:00:00.000000Z",
    "never": "infinity",
    "local_time": "2026-11-30T12:00:00.500000",
    "day": "2026-11-30",
    "clock": "24:00:00.000000",
    "duration": "P1M2DT3.5S",
    "price": "1.50",
    "huge_sum": "10",
    "huge": "170141183460469231731687303715884105727",
    "uhuge": "340282366920938463463374607431768211455",
    "smallest": "-9223372036854775808",
    "unsigned": "18446744073709551615",
    "single": "0.1",
    "large": "1e+300",
    "no_number": "nan",
    "flag": "true",
    "choice": "y",
    "id": "00112233-4455-6677-8899-aabbccddeeff",
    "bytes": "00ff",
    "bits": "101",
    "nested": '{"a":[1,null],"t":"2026-11-30T12:00:00.000000Z","é":null}',
    "pairs": '{"k|1":1.5,"k2":null}',
    "fixed": "[1,2]",
    "json": '{"json": "text"}',
    'na|me, "quoted"': "plain",
    "letters": "导出 🦆 é",
    "markup": "a|b <b>*x*</b> & \"q\", 's'; \\ `c` [l](u) #~_",
    "lines": "line one\nline two\r\ntab\tend",
    "controls": "nul\x00 esc\x1b[31m csi\x9b31m del\x7f",
    "hidden": "rtl\u202egnp.exe\u200b\u2028x",
    "empty": "",
    "nothing": None,
}
NUMBERS = {"price", "huge_sum", "huge", "smallest", "unsigned", "single", "large"}
NESTED = {"nested", "pairs", "fixed"}


@pytest.mark.parametrize("name", ENDINGS)
def test_every_type_in_every_format_is_as_written_down(name: str, cli: Cli, demo: DemoLake) -> None:
    run = cli("sql", "-f", QUERY, "--format", name, "--lake", demo.lake)
    assert (run.code, run.stderr) == (0, "")
    assert run.stdout == (GOLDEN / f"every_type.{ENDINGS[name]}").read_bytes()


def test_csv_holds_the_values() -> None:
    text = (GOLDEN / "every_type.csv").read_bytes().decode()
    first, second = csv.DictReader(io.StringIO(text, newline=""))
    assert first == {name: value or "" for name, value in BY_HAND.items()}
    assert set(second.values()) == {""}


@pytest.mark.parametrize("name", ["json", "ndjson"])
def test_json_holds_the_values(name: str) -> None:
    text = (GOLDEN / f"every_type.{name}").read_text("utf-8")
    # Not splitlines: a line separator inside a text is none of the file's.
    first, second = json.loads(text) if name == "json" else map(json.loads, text.rstrip("\n").split("\n"))
    assert list(first) == list(BY_HAND)
    assert set(second.values()) == {None}
    for column, expected in BY_HAND.items():
        value: Any = expected
        if column == "no_number":
            value = None
        elif column == "flag":
            value = True
        elif (column in NESTED and expected is not None) or (column in NUMBERS and expected is not None):
            value = json.loads(expected)
        assert first[column] == value, column


def test_the_table_shows_the_values_on_one_line_each() -> None:
    heading, first, second = (GOLDEN / "every_type.txt").read_text("utf-8").splitlines()
    for name, value in BY_HAND.items():
        assert name in heading
        if name not in ("lines", "controls", "hidden") and value:
            assert value in first
    assert "line one\\nline two\\r\\ntab\\tend" in first
    assert "nul\\x00 esc\\x1b[31m csi\\x9b31m del\\x7f" in first
    assert "rtl\\u202egnp.exe\\u200b\\u2028x" in first
    assert set(second.split()) == {"-"}


def test_markdown_shows_the_values_without_markup() -> None:
    _, rule, first, second = (GOLDEN / "every_type.md").read_text("utf-8").splitlines()
    assert rule.count("---") == len(BY_HAND)
    assert "a\\|b &lt;b&gt;\\*x\\*&lt;/b&gt; &amp; \"q\", 's'; \\\\ \\`c\\` \\[l\\](u) \\#\\~\\_" in first
    assert "line one<br>line two<br>tab\\\\tend" in first
    assert set(second.replace(" ", "")) == {"|"}


def test_parquet_holds_the_values_in_their_types(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    run = cli("sql", "-f", QUERY, "-o", file, "--lake", demo.lake)
    assert (run.code, run.stdout) == (0, b"")
    table = pq.read_table(file)
    assert table.num_rows == 2
    assert table.schema.names == list(BY_HAND)
    names = ("instant", "price", "huge_sum", "uhuge", "nested")
    types = {name: str(table.schema.field(name).type) for name in names}
    assert types == {
        "instant": "timestamp[us, tz=UTC]",
        "price": "decimal128(10, 2)",
        "huge_sum": "decimal128(38, 0)",
        "uhuge": "large_string",
        "nested": "struct<a: large_list<element: int32>, t: timestamp[us, tz=UTC], é: null>",
    }
    for name in ("letters", "markup", "lines", "controls", "hidden", "empty", "uhuge", "choice"):
        assert table[name][0].as_py() == BY_HAND[name]


def test_parquet_needs_a_file(cli: Cli, demo: DemoLake) -> None:
    run = cli("sql", "select 1", "--format", "parquet", "--lake", demo.lake)
    assert (run.code, run.stdout) == (1, b"")
    assert "-o FILE" in run.stderr


@pytest.mark.parametrize(
    ("ending", "begin"), [("csv", b'"a"\n1'), ("md", b"| a |"), ("ndjson", b'{"a":1}'), ("JSON", b"[\n")]
)
def test_the_name_of_the_file_says_the_format(
    ending: str, begin: bytes, cli: Cli, demo: DemoLake, tmp_path: Path
) -> None:
    file = tmp_path / f"rows.{ending}"
    assert cli("sql", "select 1 as a", "-o", file, "--lake", demo.lake) == (0, b"", "")
    assert file.read_bytes().startswith(begin)
    assert cli("sql", "select 1 as a", "-o", file, "--format", "table", "--lake", demo.lake).code == 0
    assert file.read_bytes() == b"a\n1\n"


def test_a_file_is_written_wholly_or_not_at_all(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("before")
    failing = "select case when i = 90000 then error('too late') else i end as i from range(100000) t(i)"
    run = cli("sql", failing, "-o", file, "--lake", demo.lake)
    assert run.code == 1
    assert "too late" in run.stderr
    assert file.read_text() == "before"
    assert list(tmp_path.glob("*rows.csv*")) == [file]


def test_a_folder_that_is_not_there_is_said(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    run = cli("sql", "select 1", "-o", tmp_path / "no" / "rows.csv", "--lake", demo.lake)
    assert run.code == 1
    assert "No such file or directory" in run.stderr


def test_a_long_table_is_cut_and_says_so(cli: Cli, demo: DemoLake) -> None:
    base = ("sql", "select i from range(250) t(i)", "--lake", demo.lake)
    run = cli(*base)
    assert run.text.splitlines() == [" i", *(f"{i:>2}" for i in range(100))]
    assert run.stderr == "the first 100 rows; there are more: --limit 0 shows all\n"
    assert len(cli(*base, "--limit", "0").text.splitlines()) == 251
    run = cli(*base, "--limit", "250")
    assert (len(run.text.splitlines()), run.stderr) == (251, "")
    assert cli(*base, "--limit", "3", "--format", "csv").stdout == b'"i"\n0\n1\n2\n'
    assert len(cli(*base, "--format", "ndjson").text.splitlines()) == 250


def test_a_query_comes_from_one_place(cli: Cli, demo: DemoLake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("sql", "select 1", "-f", QUERY, "--lake", demo.lake).code == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("select 7 as seven"))
    assert cli("sql", "--lake", demo.lake).stdout == b"seven\n    7\n"
    assert cli("sql", "-f", "no such file", "--lake", demo.lake).code == 1


def test_an_earlier_scan_is_asked(cli: Cli, demo: DemoLake) -> None:
    run = cli("sql", "select 1 as a", "--as-of", demo.summary["scan_id"], "--lake", demo.lake)
    assert run.stdout == b"a\n1\n"
    run = cli("sql", "select 1 as a", "--as-of", "nope", "--lake", demo.lake)
    assert run.code == 1
    assert "no scan 'nope'" in run.stderr
