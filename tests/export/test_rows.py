"""Rows of a table or view as a file for another tool."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import dsh_lake
from demo_lake import DemoLake, make
from dsh_lake.errors import LakeError, UnknownQuery, UsageError


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoLake:
    return make(tmp_path_factory.mktemp("demo"))


def test_every_format_has_every_row(demo: DemoLake, tmp_path: Path) -> None:
    for name in ("calls.parquet", "calls.csv", "calls.ndjson"):
        result = dsh_lake.export("tool_calls", tmp_path / name, lake=demo.lake)
        assert result["output"] == str(tmp_path / name)
        # The truth counts own calls, of which some forks have copies.
        assert result["rows"] >= demo.truth["tool_calls"]
    rows = pq.ParquetFile(tmp_path / "calls.parquet").read().to_pylist()
    own = [row for row in rows if not row["is_inherited"] and not row["is_recovered"]]
    assert len(own) == demo.truth["tool_calls"]
    lines = [json.loads(line) for line in (tmp_path / "calls.ndjson").read_text("utf-8").split("\n") if line]
    assert [line["arguments"] for line in lines] == [row["arguments"] for row in rows]
    cells = list(csv.DictReader(io.StringIO((tmp_path / "calls.csv").read_bytes().decode(), newline="")))
    assert [cell["call_id"] for cell in cells] == [row["call_id"] for row in rows]
    assert cells[0]["called_at"] == rows[0]["called_at"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_lists_and_instants_are_spelled_the_same_in_csv_and_ndjson(demo: DemoLake, tmp_path: Path) -> None:
    for name in ("scans.csv", "scans.ndjson"):
        dsh_lake.export("scans", tmp_path / name, lake=demo.lake)
    (line,) = map(json.loads, (tmp_path / "scans.ndjson").read_text("utf-8").splitlines())
    (cells,) = csv.DictReader(io.StringIO((tmp_path / "scans.csv").read_text("utf-8"), newline=""))
    assert json.loads(cells["roots"]) == line["roots"] == [str(demo.home)]
    assert cells["started_at"] == line["started_at"]
    assert line["started_at"].endswith("Z")


def test_a_file_is_its_owners_alone_and_replaces_another(demo: DemoLake, tmp_path: Path) -> None:
    target = tmp_path / "usage.csv"
    target.write_text("before")
    target.chmod(0o644)
    dsh_lake.export("usage_by_kind", target, lake=demo.lake)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_text("utf-8").startswith('"kind",')
    assert os.listdir(tmp_path) == ["usage.csv"]


def test_what_fails_on_the_way_leaves_nothing(demo: DemoLake, tmp_path: Path) -> None:
    target = tmp_path / "usage.csv"
    target.write_text("before")
    with pytest.raises(LakeError):
        dsh_lake.export("usage", target, lake=demo.lake, as_of="no-such-scan")
    with pytest.raises(UnknownQuery, match="no table or view is called 'nothing'"):
        dsh_lake.export("nothing", target, lake=demo.lake)
    assert os.listdir(tmp_path) == ["usage.csv"]
    assert target.read_text() == "before"


def test_no_file_is_written_in_the_lake(demo: DemoLake, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in demo.lake.rglob("*")}
    (tmp_path / "link").symlink_to(demo.lake, target_is_directory=True)
    for target in (demo.lake / "x.csv", demo.lake / "catalog.csv", tmp_path / "link" / "tables" / "x.csv"):
        with pytest.raises(UsageError, match="lies in the lake"):
            dsh_lake.export("usage", target, lake=demo.lake)
    with pytest.raises(UsageError, match="lies in the lake"):
        dsh_lake.export(None, demo.lake / "shared", lake=demo.lake, metadata_only=True)
    assert {path: path.stat().st_mtime_ns for path in demo.lake.rglob("*")} == before


def test_a_lake_needs_a_folder_of_its_own(demo: DemoLake, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="folder of its own"):
        dsh_lake.export(None, tmp_path, lake=demo.lake, metadata_only=True)
    with pytest.raises(UsageError, match="name no table"):
        dsh_lake.export("usage", tmp_path / "new", lake=demo.lake, metadata_only=True)
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_the_format_is_said_by_the_name_or_asked_for(demo: DemoLake, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="says no format"):
        dsh_lake.export("usage", tmp_path / "usage.xlsx", lake=demo.lake)
    with pytest.raises(UsageError, match="not one of"):
        dsh_lake.export("usage", tmp_path / "usage.csv", lake=demo.lake, format="markdown")
    sink = io.BytesIO()
    result = dsh_lake.export("usage_by_kind", sink, lake=demo.lake, format="ndjson")
    assert (result["output"], len(sink.getvalue().splitlines())) == (None, result["rows"])


def test_an_earlier_scan(demo: DemoLake, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    first = dsh_lake.scan(next(demo.home.glob("sessions/*/*/session.v4.jsonl.zstd")), lake=lake, jobs=1)
    dsh_lake.scan(demo.home, lake=lake, jobs=1)
    rows = [
        dsh_lake.export("sessions", tmp_path / "s.csv", lake=lake, as_of=scan)["rows"]
        for scan in (first["scan_id"], None)
    ]
    assert rows == [1, demo.truth["sessions"]]
    dsh_lake.export(None, tmp_path / "shared", lake=lake, metadata_only=True, as_of=first["scan_id"])
    assert dsh_lake.sql("from sessions", tmp_path / "shared").num_rows == 1
    # What came to be later is in no file of it.
    assert dsh_lake.sql("from scans", tmp_path / "shared").num_rows == 1
