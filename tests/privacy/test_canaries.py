"""Nothing of what was said is in a lake without content, and nothing of it in what is shown of any lake."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import dsh_lake
from cli.runs import run_here
from dsh_lake.schemas import STORED
from export.planted import everything
from privacy.canaries import CANARY, TITLE, write_canaries


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_canaries(tmp_path_factory.mktemp("canaries"))


def scanned(home: Path, name: str, *, content: bool) -> Path:
    lake = home.parent / name
    dsh_lake.scan([home, home.parent / "fixtures"], lake=lake, jobs=1, content=content)
    return lake


@pytest.fixture(scope="module")
def bare(home: Path) -> Path:
    """A lake without content."""
    return scanned(home, "bare", content=False)


@pytest.fixture(scope="module")
def full(home: Path) -> Path:
    """The same with content."""
    return scanned(home, "full", content=True)


@pytest.fixture(scope="module")
def logs(home: Path) -> Path:
    """A lake with content of logs alone: faults of cassettes and manifests are told in the words of the
    original tools, which quote names of members and keys."""
    dsh_lake.scan(home / "sessions", lake=home.parent / "logs", jobs=1)
    return home.parent / "logs"


def places(lake: Path, mark: str) -> set[str]:
    """Where in a lake there is a mark: files, and columns of those that have some."""
    found = set()
    for path, content in everything(lake):
        if mark.encode() not in content.lower():
            continue
        table = path.parent.name
        held = pq.ParquetFile(path).read() if path.suffix == ".parquet" else None
        names = [] if held is None else held.column_names
        columns = {name for name in names if held and mark in str(held[name].to_pylist()).lower()}
        found |= {f"{table}.{column}" for column in columns} or {path.name}
    return found


def test_the_canaries_are_in_every_column_of_content(full: Path) -> None:
    """Else their absence elsewhere would say nothing."""
    content = {
        f"{table.name}.{column.name}"
        for table in STORED.values()
        for column in table.stored
        if column.is_content
    }
    assert sorted(content - places(full, CANARY) - {"events.packed_prefix"}) == []


def test_a_lake_without_content_holds_none_of_them(bare: Path) -> None:
    assert places(bare, CANARY) == set()
    assert places(bare, TITLE) == set()


def test_nor_does_one_that_was_rewritten_without(home: Path) -> None:
    lake = scanned(home, "rewritten", content=True)
    dsh_lake.scan([home, home.parent / "fixtures"], lake=lake, jobs=1, full=True, content=False)
    assert places(lake, CANARY) == set()


def commands(roots: list[Path], folder: Path, *, content: bool) -> dict[str, list[str | Path]]:
    """The command lines of what is shown by default."""
    scan: list[str | Path] = ["scan", *roots, "--verbose", "--strict"]
    return {
        "scan": [*scan, *([] if content else ["--no-content"])],
        "scan-json": [*scan, "--format", "json", *([] if content else ["--no-content"])],
        "check": ["check", "--verbose"],
        "check-json": ["check", "--format", "json"],
        "baseline": ["baseline", "--save", "kept"],
        "baseline-by": ["baseline", "--by", "session", "--format", "json"],
        "report": ["report", "usage", "-o", folder / "page.md"],
        "sessions": ["sessions", "--limit", "0"],
        "doctor": ["doctor"],
    }


@pytest.mark.parametrize("kind", ["bare", "logs"])
def test_what_is_shown_has_none_of_them(
    kind: str, home: Path, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lake: Path = request.getfixturevalue(kind)
    roots = [home, home.parent / "fixtures"] if kind == "bare" else [home / "sessions"]
    shown = {}
    for name, arguments in commands(roots, tmp_path, content=kind == "logs").items():
        capfd.readouterr()
        code = run_here([*arguments, "--lake", lake])
        written = capfd.readouterr()
        shown[name] = f"{written.out}{written.err}".lower()
        assert code in (0, 2), shown[name]
    shown["page"] = (tmp_path / "page.md").read_text("utf-8").lower()
    told = {name for name, text in shown.items() if CANARY in text}
    # Titles are what `sessions` is asked for.
    assert told == ({"sessions"} if kind == "logs" else set())
    shown.pop("sessions")
    assert [name for name, text in shown.items() if TITLE in text] == []


# -- who may read it ---------------------------------------------------------------------------------------


def _compact(lake: Path) -> None:
    dsh_lake.compact(lake, keep_days=0)


def _export(lake: Path) -> None:
    (lake / "prices.csv").write_text("model,currency,cache_read,input,output\nm,USD,1,2,3\n")
    (lake / "prices.csv").chmod(0o600)  # The user's own file: its mode is the user's.
    dsh_lake.export(None, lake.parent / "shared", lake=lake, metadata_only=True)


def _baseline(lake: Path) -> None:
    assert run_here(["baseline", "--save", "kept", "--lake", lake]) == 0


@pytest.mark.parametrize("work", [_compact, _baseline, _export])
def test_only_the_owner_may_read_a_lake(work: Callable[[Path], None], home: Path, tmp_path: Path) -> None:
    """Also for somebody whose new files are open to all."""
    before = os.umask(0)
    try:
        for full in (False, True):
            dsh_lake.scan([home], lake=tmp_path / "new" / "lake", jobs=1, full=full)
        work(tmp_path / "new" / "lake")
    finally:
        os.umask(before)
    lakes = [path for path in (tmp_path / "new").iterdir() if path.is_dir()]
    modes = {
        str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode)
        for lake in lakes
        for path in (lake, *lake.rglob("*"))
    }
    wanted = {name: 0o700 if (tmp_path / name).is_dir() else 0o600 for name in modes}
    assert {name: oct(mode) for name, mode in modes.items() if mode != wanted[name]} == {}
