"""A scan is visible wholly or not at all, whatever ends it, and whoever else is there."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dsh_lake import connect, scan, sources, update
from dsh_lake.catalog_file import CatalogBuilder
from dsh_lake.cli.exits import run
from dsh_lake.errors import LakeBusy, LakeError, NotALake, VersionMismatch
from dsh_lake.ingest import workers
from dsh_lake.lake import Lake
from tests import logs
from tests.lake.stored import rows_of
from tests.lake.works import leftovers

SCAN = "import sys, dsh_lake; dsh_lake.scan(sys.argv[1], lake=sys.argv[2], jobs=int(sys.argv[3]))"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home large enough that a scan can be met at every stage, workers included."""
    root = tmp_path_factory.mktemp("home")
    noise = random.Random(7)
    for number in range(40):
        session = f"session-{number}"
        frames = [logs.frame(logs.header(session))]
        for seq in range(0, 60, 3):
            text = noise.randbytes(4000).hex()
            frames.append(logs.frame(logs.user(seq, text), logs.call(seq + 1, f"c{seq}")))
            frames.append(logs.frame(logs.result(seq + 2, f"c{seq}")))
        logs.log_path(root, session).write_bytes(b"".join(frames))
    return root


def _start(home: Path, lake: Path, jobs: int = 1) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", SCAN, str(home), str(lake), str(jobs)], stderr=subprocess.DEVNULL
    )


def test_two_scans_at_once_lose_and_double_nothing(home: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    scanning = [_start(home, lake) for _ in range(3)]
    codes = [process.wait() for process in scanning]
    assert 0 in codes
    scan(home, lake=lake)
    fresh = tmp_path / "fresh"
    scan(home, lake=fresh)
    assert rows_of(lake) == rows_of(fresh)


def test_a_second_writer_is_told_that_the_lake_is_busy(home: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    with lake.writing(), pytest.raises(LakeBusy, match="lake busy"):
        scan(home, lake=lake.path)
    scan(home, lake=lake.path)


def test_a_catalog_is_in_place_before_another_may_write(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, finish = Lake(tmp_path / "lake"), CatalogBuilder.finish
    finished: list[None] = []

    def finish_while_another_comes(*arguments: Any) -> None:
        with pytest.raises(LakeBusy), lake.writing():
            pass
        finish(*arguments)
        finished.append(None)

    monkeypatch.setattr(CatalogBuilder, "finish", finish_while_another_comes)
    scan(home, lake=lake.path, jobs=1)
    assert finished == [None]


def test_files_that_another_scan_knows_already_are_looked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, lake = tmp_path / "home", tmp_path / "lake"
    older = logs.log_path(own, "s", version=3)
    older.write_bytes(logs.frame(logs.header("s", 3)) + logs.frame(logs.user(0, "a")))
    scan(own, lake=lake)
    look = sources.discover
    overtaken: list[int] = []

    def look_and_be_overtaken(roots: Any) -> Any:
        found = look(roots)
        if not overtaken:
            overtaken.append(1)
            logs.log_path(own, "s").write_bytes(logs.frame(logs.header("s")) + logs.frame(logs.user(0, "b")))
            scan(own, lake=lake)
        return found

    monkeypatch.setattr(update, "discover", look_and_be_overtaken)
    scan(own, lake=lake)
    scan(own, lake=tmp_path / "fresh")
    assert rows_of(lake) == rows_of(tmp_path / "fresh")


@pytest.mark.skipif(shutil.which("false") is None, reason="there is no program that does nothing but fail")
def test_a_worker_that_is_gone_is_no_reader_that_has_enough(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "_SMALL_BYTES", 0)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    for _ in range(3):
        assert run(["scan", str(home), "--lake", str(tmp_path / "lake"), "--jobs", "2"]) == 1
        assert capsys.readouterr().err == "error: a worker process ended with status 1\n"
    assert leftovers(tmp_path / "lake") == []


def test_a_reader_sees_its_scan_while_others_go_on(home: Path, tmp_path: Path) -> None:
    lake, own = tmp_path / "lake", tmp_path / "home"
    path = logs.log_path(own, "s")
    path.write_bytes(logs.frame(logs.header("s")) + logs.frame(logs.user(0, "a")))
    scan(own, lake=lake)
    with connect(lake) as reader:
        for seq in range(1, 4):
            with path.open("ab") as log:
                log.write(logs.frame(logs.user(seq, "b")))
            scan(own, lake=lake)
            assert reader.sql("select count(*) from events").fetchall() == [(1,)]
    with connect(lake) as reader:
        assert reader.sql("select count(*) from events").fetchall() == [(4,)]


def test_workers_and_one_process_make_the_same_lake(home: Path, tmp_path: Path) -> None:
    for jobs in (1, 3):
        assert _start(home, tmp_path / f"{jobs}", jobs).wait() == 0
    assert rows_of(tmp_path / "1") == rows_of(tmp_path / "3")


def test_a_catalog_left_behind_by_a_killed_scan_is_not_believed(home: Path, tmp_path: Path) -> None:
    lake, own = tmp_path / "lake", tmp_path / "home"
    path = logs.log_path(own, "s")
    path.write_bytes(logs.frame(logs.header("s")) + logs.frame(logs.user(0, "a")))
    scan(own, lake=lake)
    old = {file: file.read_bytes() for file in lake.glob("*.duckdb")}
    with path.open("ab") as log:
        log.write(logs.frame(logs.user(1, "b")))
    scan(own, lake=lake)
    for file in lake.glob("*.duckdb"):
        file.unlink()
    for file, content in old.items():
        file.write_bytes(content)
    with connect(lake) as reader:
        assert reader.sql("select count(*) from events").fetchall() == [(2,)]


def test_a_lake_can_be_moved(home: Path, tmp_path: Path) -> None:
    scan(home, lake=tmp_path / "lake")
    moved = (tmp_path / "lake").rename(tmp_path / "elsewhere")
    with connect(moved) as reader:
        assert reader.sql("select count(*) from sessions").fetchall() == [(40,)]


def test_lake_files_are_their_owners_only(home: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    before = os.umask(0)
    try:
        scan(home, lake=lake, jobs=2)
    finally:
        os.umask(before)
    open_to_others = [path for path in [lake, *lake.rglob("*")] if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert not open_to_others


def test_a_folder_with_other_things_does_not_become_a_lake(home: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(NotALake, match="folder of its own"):
        scan(home, lake=tmp_path)
    with pytest.raises(NotALake, match="no lake here"):
        connect(tmp_path / "nowhere")


def test_a_lake_has_one_content_mode(home: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    scan(home, lake=lake)
    with pytest.raises(VersionMismatch, match="--full"):
        scan(home, lake=lake, content=False)
    scan(home, lake=lake, content=False, full=True)
    with connect(lake) as reader:
        assert reader.sql("select count(data), count(*) from events").fetchall() == [(0, 40 * 60)]
        assert reader.sql("select count(arguments), count(arguments_sha256) from tool_calls").fetchall() == [
            (0, 800)
        ]


@pytest.mark.parametrize("name", ["per%20cent", "what?", "a#b", "a\\b", "a\nb"])
def test_a_path_that_engines_would_misread_is_refused(name: str, home: Path, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="a lake's path may hold none of"):
        scan(home, lake=tmp_path / name)


def test_a_lake_may_lie_in_a_folder_of_any_other_name(tmp_path: Path) -> None:
    own = tmp_path / "home"
    logs.log_path(own, "s").write_bytes(logs.frame(logs.header("s")) + logs.frame(logs.user(0, "a")))
    lake = tmp_path / "数据 lake's"
    first = scan(own, lake=lake)["scan_id"]
    with connect(lake) as reader, connect(lake, as_of=first) as earlier:
        assert reader.sql("from messages").fetchall() == earlier.sql("from messages").fetchall() != []


def test_a_lake_of_a_version_with_fewer_tables_gains_them(tmp_path: Path) -> None:
    own, lake = tmp_path / "home", tmp_path / "lake"
    path = logs.log_path(own, "s")
    path.write_bytes(logs.frame(logs.header("s")) + logs.frame(logs.user(0, "a")))
    scan(own, lake=lake)
    shutil.rmtree(lake / "tables" / "cassettes")
    with path.open("ab") as log:
        log.write(logs.frame(logs.user(1, "b")))
    assert scan(own, lake=lake)["human_messages"] == 2


@pytest.mark.parametrize("size", [0, 200_000])
def test_a_damaged_template_among_the_caches_is_made_anew(
    size: int, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    log = next(home.rglob("session.v4*"))
    scan(log, lake=tmp_path / "first")
    templates = list((tmp_path / "dsh-lake").glob("catalog-*.duckdb"))
    if not templates:
        pytest.skip("caches lie elsewhere on this system")
    whole = templates[0].stat().st_size
    os.truncate(templates[0], size)
    assert scan(log, lake=tmp_path / "second")["sessions"] == 1
    assert templates[0].stat().st_size == whole


@pytest.mark.parametrize("info", ["'not json'", "'[1]'", "null"])
def test_a_catalog_that_does_not_say_what_it_is_of_is_made_anew(
    info: str, home: Path, tmp_path: Path
) -> None:
    log, lake = next(home.rglob("session.v4*")), tmp_path / "lake"
    scan(log, lake=lake)
    (catalog,) = lake.glob("catalog-*.duckdb")
    with duckdb.connect(os.fspath(catalog)) as connection:
        connection.execute(f"create or replace view stored.catalog_info as select {info} as info")
    with connect(lake) as connection:
        assert connection.sql("select count(*) from sessions").fetchall() == [(1,)]
    assert scan(log, lake=lake)["sessions"] == 1
