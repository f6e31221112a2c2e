"""``dsh_lake.doctor``: each thing that can be wrong with a lake is found, and what to do is said."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from demo_lake import DemoLake


@pytest.fixture(scope="module")
def sound(demo: DemoLake, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A lake in the place where it was made, and a copy of it."""
    folder = tmp_path_factory.mktemp("doctor")
    dsh_lake.scan(demo.home, lake=folder / "lake", jobs=1)
    return folder / "lake", shutil.copytree(folder / "lake", folder / "copy")


@pytest.fixture
def lake(sound: tuple[Path, Path]) -> Path:
    """The lake as it was made, whatever was done to it before."""
    made, copy = sound
    shutil.rmtree(made, ignore_errors=True)
    return shutil.copytree(copy, made)


def checks(lake: Path) -> dict[str, Any]:
    report = dsh_lake.doctor(lake)
    json.dumps(report, allow_nan=False)
    assert report["ok"] == all(check["status"] != "fail" for check in report["checks"])
    for check in report["checks"]:
        assert (check["advice"] is None) == (check["status"] == "ok"), check
    return {check["name"]: check["status"] for check in report["checks"]}


SOUND = dict.fromkeys(["lake", "files", "query", "catalog", "leftovers", "permissions"], "ok")


def test_a_sound_lake(demo: DemoLake, lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSH_HOME", str(demo.home))
    assert checks(lake) == {"home": "ok", **SOUND}
    report = dsh_lake.doctor(lake)
    assert report["home"] == str(demo.home)
    assert report["versions"]["dsh-lake"] == dsh_lake.__version__
    assert report["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    about = report["lake"]
    assert about["path"] == str(lake)
    assert about["scans"] == 1
    assert about["has_content"] is True
    assert about["size_bytes"] == sum(path.stat().st_size for path in lake.rglob("*") if path.is_file())
    (started,) = dsh_lake.sql("select started_at::text as t from scans", lake)["t"].to_pylist()
    assert about["last_scan_at"][:19].replace("T", " ") == started[:19]


def test_the_lake_of_the_environment_is_meant(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSH_LAKE", str(lake))
    assert dsh_lake.doctor()["lake"]["path"] == str(lake)


def test_no_home(lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "nowhere"))
    assert checks(lake)["home"] == "warn"


def test_no_lake_yet_is_nothing_broken(tmp_path: Path) -> None:
    assert checks(tmp_path / "nothing")["lake"] == "warn"


def test_a_place_that_can_be_no_lake_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("root\n")
    assert checks(tmp_path / "passwd")["lake"] == "fail"
    assert checks(tmp_path / "passwd" / "below")["lake"] == "fail"
    assert checks(tmp_path)["lake"] == "fail"


def test_a_file_that_is_gone(lake: Path) -> None:
    (part,) = (lake / "tables" / "messages").glob("*.parquet")
    part.unlink()
    assert checks(lake) | {"home": "ok"} == {"home": "ok", **SOUND, "files": "fail", "query": "fail"}


def test_a_file_that_was_cut(lake: Path) -> None:
    (part,) = (lake / "tables" / "events").glob("*.parquet")
    part.write_bytes(part.read_bytes()[:-9])
    assert checks(lake)["files"] == "fail"


def test_a_log_of_a_table_that_is_gone(lake: Path) -> None:
    shutil.rmtree(lake / "tables" / "usage" / "_delta_log")
    assert checks(lake)["lake"] == "fail"


def test_a_lake_that_was_moved_has_an_old_catalog(lake: Path) -> None:
    moved = lake.rename(lake.with_name("moved"))
    assert checks(moved) | {"home": "ok"} == {"home": "ok", **SOUND, "catalog": "warn"}


def test_a_catalog_that_is_gone(lake: Path) -> None:
    (lake / "catalog.duckdb").unlink()
    assert checks(lake)["catalog"] == "warn"


def test_files_of_earlier_scans_are_counted(lake: Path) -> None:
    (lake / "tables" / "events" / "part-killed.parquet").write_bytes(b"x" * 12_345)
    (lake / "tables" / "events" / "part-killed.parquet").chmod(0o600)
    assert checks(lake)["leftovers"] == "ok"
    messages = [check["message"] for check in dsh_lake.doctor(lake)["checks"] if check["name"] == "leftovers"]
    assert "1 files (12,345 bytes)" in messages[0]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_files_that_others_may_read(lake: Path) -> None:
    (lake / "catalog.duckdb").chmod(0o644)
    assert checks(lake)["permissions"] == "warn"
