"""A disk that is full at any point: an error that says so, and the lake is as before or as after."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dsh_lake import scan
from dsh_lake.cli.exits import ExitCode, run
from tests import logs
from tests.corpus import THOROUGH
from tests.lake.stored import rows_of
from tests.lake.works import change_home, leftovers, small_home

if sys.platform == "win32":
    pytest.skip("neither mounts nor limits of this kind there", allow_module_level=True)

import resource

POINTS = 20 if THOROUGH else 3
DISK_BYTES = 32 << 20
BLOCK_BYTES = 4096
COMMANDS = {
    "scan": ["scan", "HOME", "--jobs", "1"],
    "full": ["scan", "HOME", "--jobs", "1", "--full"],
    "compact": ["compact", "--keep", "0"],
}

TRIED = list(COMMANDS) if THOROUGH else ["scan"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has changed since ``lake`` was scanned."""
    return tmp_path_factory.mktemp("full") / "home"


@pytest.fixture(scope="module")
def lake(home: Path) -> Path:
    """A lake of the home as it was, worth compacting."""
    lake = home.with_name("lake")
    small_home(home)
    scan(home, lake=lake)
    change_home(home)
    scan(home, lake=lake)
    with logs.log_path(home, "s4").open("ab") as log:
        log.write(logs.frame(logs.user(60, "more")))
    return lake


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small file system of its own."""
    root = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", os.fspath(root)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    yield root
    subprocess.run(["umount", os.fspath(root)], check=True)


@contextmanager
def _room(folder: Path, size: int) -> Iterator[None]:
    """No more than ``size`` bytes can be written on the disk of ``folder``."""
    ballast = folder / "ballast"
    status = os.statvfs(folder)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, status.f_bavail * status.f_frsize - size))
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def _longest_file(size: int) -> Iterator[None]:
    """No file can become longer than ``size`` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _used(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*"))


def _steps(most: int) -> list[int]:
    """Sizes from nothing to ``most``, spread evenly."""
    return [most * step // POINTS for step in range(POINTS)]


def _arguments(command: str, home: Path, lake: Path) -> list[str]:
    given = [str(home) if word == "HOME" else word for word in COMMANDS[command]]
    return [*given, "--lake", str(lake), "--quiet", "--format", "json"]


def _check(code: int, errors: str, lake: Path, before: Any, after: Any) -> None:
    if code == ExitCode.CLEAN:
        assert rows_of(lake, remembered=True) == after
        return
    assert code == ExitCode.FAILED
    said = errors.splitlines()
    assert len(said) == 1 and said[0].startswith("error: ")
    assert str(lake) in said[0]
    assert said[0].endswith(("No space left on device", "File too large")), said[0]
    assert rows_of(lake, remembered=True) in (before, after)
    assert leftovers(lake) == []


@pytest.mark.parametrize("command", TRIED)
def test_no_room_left_on_the_disk(
    command: str, home: Path, lake: Path, disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = disk / "lake"
    shutil.copytree(lake, place)
    used = _used(place)
    before = rows_of(place, remembered=True)
    assert run(_arguments(command, home, place)) == 0
    after = rows_of(place, remembered=True)
    most = max(_used(place) - used, 1 << 20) + (2 << 20)
    codes = set()
    for room in _steps(most):
        shutil.rmtree(place)
        shutil.copytree(lake, place)
        capsys.readouterr()
        with _room(disk, room):
            code = run(_arguments(command, home, place))
            _check(code, capsys.readouterr().err, place, before, after)
        codes.add(code)
        assert run(_arguments(command, home, place)) == 0
        assert rows_of(place, remembered=True) == after
        assert leftovers(place) == []
    shutil.rmtree(place)
    assert ExitCode.FAILED in codes


@pytest.mark.parametrize("command", TRIED)
def test_no_file_can_grow(
    command: str, home: Path, lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "lake"
    shutil.copytree(lake, place)
    before = rows_of(place, remembered=True)
    assert run(_arguments(command, home, place)) == 0
    after = rows_of(place, remembered=True)
    longest = max(file.stat().st_size for file in place.rglob("*"))
    codes = set()
    for size in [*_steps(40_000)[1:], longest - 1]:
        shutil.rmtree(place)
        shutil.copytree(lake, place)
        capsys.readouterr()
        with _longest_file(size):
            code = run(_arguments(command, home, place))
        _check(code, capsys.readouterr().err, place, before, after)
        codes.add(code)
        assert run(_arguments(command, home, place)) == 0
        assert rows_of(place, remembered=True) == after
    assert ExitCode.FAILED in codes
