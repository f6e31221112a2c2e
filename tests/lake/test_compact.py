"""Compaction changes what lies on disk and nothing of what the lake says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dsh_lake import connect, scan
from dsh_lake.compact import compact
from dsh_lake.errors import LakeError
from tests import logs
from tests.lake.stored import rows_of


def _home(root: Path) -> Path:
    path = logs.log_path(root, "s")
    path.write_bytes(logs.frame(logs.header("s")) + logs.frame(logs.user(0, "a"), logs.call(1, "c")))
    return path


def _parquet(lake: Path) -> set[Path]:
    return set(lake.rglob("*.parquet"))


def test_rows_left_behind_go_and_the_rest_is_the_same(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    log = _home(home)
    for number in range(4):
        scan(home, lake=lake)
        with log.open("ab") as grown:
            grown.write(logs.frame(logs.user(2 + number, "b"))[: 20 if number % 2 else None])
    scan(home, lake=lake)
    before = rows_of(lake)
    report = compact(lake, keep_days=0)
    assert rows_of(lake) == before
    assert report["rows"]["after"] < report["rows"]["before"]
    assert report["files"]["after"] < report["files"]["before"]
    assert report["deleted_bytes"] > 0
    with connect(lake) as connection:
        assert connection.sql("select count(*) from events").fetchall() == [(sum(before["events"].values()),)]
        assert connection.sql("select action from scans order by batch").fetchall()[-1] == ("compact",)
    assert scan(home, lake=lake)["sources"]["unchanged"] == 1
    assert rows_of(lake) == before


def test_an_earlier_scan_can_be_opened_until_it_is_no_longer_kept(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    log = _home(home)
    first = scan(home, lake=lake)["scan_id"]
    log.write_bytes(logs.frame(logs.header("s")) + logs.frame(logs.user(0, "other")))
    scan(home, lake=lake)
    compact(lake)
    with connect(lake, as_of=first) as connection:
        assert connection.sql("select count(*) from events").fetchall() == [(2,)]
    with connect(lake) as connection:
        assert connection.sql("select count(*) from events").fetchall() == [(1,)]
    compact(lake, keep_days=0)
    with pytest.raises(LakeError, match="no longer kept"):
        connect(lake, as_of=first)
    with pytest.raises(LakeError, match="no scan 'never'"):
        connect(lake, as_of="never")


def test_what_a_killed_scan_left_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    _home(home)
    scan(home, lake=lake)
    kept = _parquet(lake)
    stray = lake / "tables" / "events" / "part-00000009-1-1-00000.parquet"
    stray.write_bytes(b"half a file")
    os.utime(stray, (0, 0))
    compact(lake)
    assert not stray.exists()
    assert kept <= _parquet(lake)


def test_compacting_a_compact_lake_changes_nothing(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    _home(home)
    scan(home, lake=lake)
    compact(lake)
    files = _parquet(lake)
    assert compact(lake)["files"]["before"] == compact(lake)["files"]["after"]
    assert _parquet(lake) == files
