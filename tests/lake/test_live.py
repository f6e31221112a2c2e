"""Homes that are written, and lakes that are asked, scanned and compacted, all at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from dsh_lake import connect, scan
from dsh_lake.errors import LakeBusy
from tests.corpus import THOROUGH
from tests.lake.live import Session
from tests.lake.stored import rows_of

SECONDS = 180 if THOROUGH else 3
PAUSE_S = 1 if THOROUGH else 0.2
OF_THE_MOMENT = {"torn-tail", "empty-file"}
"""What a file may be found with while it is being written."""


def _start(role: str, *paths: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.lake.live", role, *map(os.fspath, paths)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _number(process: subprocess.Popen[str]) -> int:
    written, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return int(written)


def test_scanned_asked_and_compacted_while_it_is_written(tmp_path: Path) -> None:
    home, lake, stop = tmp_path / "home", tmp_path / "lake", tmp_path / "stop"
    Session(home, "first", 4, ".zstd").append(3)
    scan(home, lake=lake)
    roles = ("write", "read", "rival")
    others = [_start(role, home, lake, stop) for role in roles]
    scans = 0
    try:
        while not all((tmp_path / role).exists() for role in roles):
            assert all(process.poll() is None for process in others)
            time.sleep(0.01)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or scans < 2:
            try:
                summary = scan(home, lake=lake)
                scans += 1
                assert {finding["code"] for finding in summary["findings"]} <= OF_THE_MOMENT
            except LakeBusy:
                pass
            time.sleep(PAUSE_S)
    finally:
        stop.touch()
    written, asked, rivalled = map(_number, others)
    summary = scan(home, lake=lake)
    print(f"{written} events, {scans} scans and {rivalled} of a rival, {asked} readings")
    assert summary["findings"] == []
    assert summary["events"] == written + 3
    scan(home, lake=tmp_path / "fresh")
    assert rows_of(lake) == rows_of(tmp_path / "fresh")
    assert asked > 0
    with connect(lake) as connection:
        assert connection.sql("select count(*) from events").fetchall() == [(written + 3,)]
