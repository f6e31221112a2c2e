"""Killed at any moment, a lake is as before or as after, and the next run makes it right."""

from __future__ import annotations

import random
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from dsh_lake import connect, scan
from dsh_lake.compact import compact
from dsh_lake.lake import Lake
from tests import logs
from tests.corpus import THOROUGH
from tests.lake.stored import rows_of
from tests.lake.works import FRESH, WORKS, begin, change_home, leftovers, let_go, small_home

KILLS = 40 if THOROUGH else 4
TRIED = [*WORKS] if THOROUGH else ["workers", "rescan", "compact"]

Rows = dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """A home as it is, lakes of it as it was and as it is, and the rows of a lake scanned from nothing."""

    home: Path
    earlier: Path
    current: Path
    fresh: Rows


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    root = tmp_path_factory.mktemp("stage")
    home = root / "home"
    small_home(home)
    scan(home, lake=root / "earlier")
    change_home(home)
    shutil.copytree(root / "earlier", root / "current")
    for lake in ("current", "fresh"):
        scan(home, lake=root / lake)
    return Stage(home, root / "earlier", root / "current", rows_of(root / "fresh"))


def _put(stage: Stage, work: str, lake: Path) -> None:
    if lake.exists():
        shutil.rmtree(lake)
    if work not in FRESH:
        shutil.copytree(stage.earlier if work == "rescan" else stage.current, lake)


def _rows(lake: Path) -> Rows | None:
    """What the lake answers, remembered files included; None before the first scan."""
    return rows_of(lake, remembered=True) if Lake(lake).exists and Lake(lake).snapshot() else None


def _children(pid: int) -> list[int]:
    """The processes that any thread of this one has started, where the system tells."""
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, children.read_text().split())
    return found


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _assert_ended(pids: list[int]) -> None:
    deadline = time.monotonic() + 60
    while any(map(_is_running, pids)):
        assert time.monotonic() < deadline, "workers outlive the process that they worked for"
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there")
@pytest.mark.parametrize("work", TRIED)
def test_killed_at_any_moment(work: str, stage: Stage, tmp_path: Path) -> None:
    lake, code = tmp_path / "lake", WORKS[work]
    _put(stage, work, lake)
    before = _rows(lake)
    began = time.monotonic()
    exec(code, {"dsh_lake": dsh_lake, "home": stage.home, "lake": lake})
    took = time.monotonic() - began
    after = _rows(lake)
    assert after is not None
    assert rows_of(lake) == stage.fresh
    moments = random.Random()
    for _ in range(KILLS):
        _put(stage, work, lake)
        process = begin(code, stage.home, lake)
        moment = moments.uniform(0, took)
        let_go(process)
        time.sleep(moment)
        workers = _children(process.pid)
        process.kill()
        process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
        _assert_ended(workers)
        rows = _rows(lake)
        assert rows in (before, after), moment
        if rows is not None:
            with connect(lake) as connection:
                counted = connection.sql("select count(*) from events").fetchall()
            assert counted == [(sum(rows["events"].values()),)], moment
        if work == "compact":
            compact(lake, keep_days=0)
        else:
            scan(stage.home, lake=lake, prune=work == "prune")
        assert _rows(lake) == after, moment
        assert leftovers(lake) == [], moment


@pytest.mark.skipif(sys.platform != "linux", reason="finds workers in /proc")
def test_terminated_it_says_143_leaves_the_lake_alone_and_ends_its_workers(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    small_home(home, 2)
    scan(home, lake=lake)
    before = rows_of(lake)
    large = logs.log_path(home, "large")
    noise = random.Random(1)
    lines = [logs.user(seq, noise.randbytes(40_000).hex()) for seq in range(200)]
    large.write_bytes(b"".join([logs.frame(logs.header("large")), *(logs.frame(line) for line in lines)]))
    shutil.copy(large, logs.log_path(home, "twin"))
    code = "from dsh_lake.cli import __main__\nsys.argv[1:] = ['scan', home, '--lake', lake, '--jobs', '2']\n"
    process = begin(code + "__main__.main()", home, lake)
    let_go(process)
    deadline = time.monotonic() + 60
    while not (workers := _children(process.pid)) or not leftovers(lake):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    process.terminate()
    written, errors = process.communicate(timeout=60)
    assert (process.returncode, written, errors) == (143, b"", b"")
    _assert_ended(workers)
    assert leftovers(lake) == []
    assert rows_of(lake) == before


def test_what_was_rolled_back_is_not_rolled_back_again(stage: Stage, tmp_path: Path) -> None:
    lake = Lake(shutil.copytree(stage.current, tmp_path / "lake"))
    # A commit of a scan that was killed before its last one, without any file.
    snapshot = lake.snapshot()
    assert snapshot is not None
    with lake.writing() as writer:
        writer._commit_table("messages", [], "overwrite")
    version = lake._log_version("messages")
    for _ in range(3):
        scan(stage.home, lake=lake.path)
    assert lake._log_version("messages") == version + 1
    assert rows_of(lake.path) == stage.fresh
