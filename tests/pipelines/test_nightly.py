"""Two nights over a demo home that changes in between, run as a user would run them."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from demo_home import write_home
from tests.fixtures_kit import drifting

STEPS = ["scan", "check", "baseline", "usage.md", "usage.html"]


class Night(NamedTuple):
    """How a night ended, what it said, and its folder."""

    code: int
    stderr: str
    folder: Path

    def read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text("utf-8"))

    @property
    def states(self) -> dict[str, str]:
        return {step["name"]: step["state"] for step in self.read("night.json")["steps"]}


def run_night(project_root: Path, folder: Path, date: str, *roots: Path, more: Sequence[str] = ()) -> Night:
    command = [sys.executable, "-W", "error", str(project_root / "pipelines" / "nightly.py")]
    command += ["--lake", str(folder / "lake"), "--reports", str(folder / "nights"), "--date", date]
    environment = {**os.environ, "PYTHONPATH": str(project_root), "TZ": "UTC"}
    run = subprocess.run(
        [*command, *more, *map(str, roots)], env=environment, capture_output=True, text=True, check=False
    )
    night = folder / "nights" / date
    assert run.stdout == f"{night}\n", run.stderr
    return Night(run.returncode, run.stderr, night)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("nights")
    write_home(made / "home")
    log = drifting.log(drifting.events())
    for name, fresh in {"same": log, "other": log.replace("all done", "private words")}.items():
        drifting.put_fixture(made / "tree/session" / name, [log])
        drifting.put_run(made / "runs" / name, [fresh], scenario=name)
    return made


def test_two_nights_and_one_without_a_home(folder: Path, project_root: Path) -> None:
    home = folder / "home"
    gone = min(home.glob("sessions/*/*/session.v3.jsonl.zstd"))

    first = run_night(project_root, folder, "2026-11-30", home)
    assert [*first.states] == STEPS
    # The demo home has a torn tail, which is a finding of the scan; its checks are clean.
    assert first.states == {**dict.fromkeys(STEPS, "clean"), "scan": "findings"}
    assert first.code == first.read("night.json")["exit_code"] == 2
    assert first.read("baseline.json")["comparison"] is None
    assert (folder / "lake" / "baselines" / "nightly.json").exists()
    names = {path.name for path in first.folder.iterdir()}
    assert names == {
        *("night.json", "night.md", "scan.json", "check.json", "baseline.json", "usage.md", "usage.html")
    }
    assert stat.S_IMODE(first.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in first.folder.iterdir()} == {0o600}
    assert "| scan | findings |" in (first.folder / "night.md").read_text("utf-8")
    assert "torn-tail" in first.stderr

    # The home changes: a session is gone, and all the others are as they were.
    shutil.rmtree(gone.parent)
    drift = ["--fixtures", str(folder / "tree"), "--runs", str(folder / "runs")]
    second = run_night(project_root, folder, "2026-12-01", home, more=drift)
    sessions = [night.read("scan.json")["sessions"] for night in (first, second)]
    assert sessions[1] == sessions[0] - 1
    comparison = second.read("baseline.json")["comparison"]
    assert (comparison["name"], comparison["moved"]) == ("nightly", 0)
    assert second.states["baseline"] == "clean"

    # One of two scenarios drifted, which is told by its cause and kept for later nights; no text is shown.
    assert second.states == {**first.states, "drift": "findings", "drift.html": "clean"}
    assert second.read("drift.json")["compared"] == 2
    assert json.loads((folder / "nights" / "drift" / "2026-12-01.json").read_text()) == second.read(
        "drift.json"
    )
    assert "text-changed: 1 differences in 1 scenarios" in second.stderr
    page = (second.folder / "drift.html").read_text("utf-8")
    assert "text-changed" in page and "private words" not in page

    # A home that is not there fails the scan, and nothing else; the night of that day is replaced whole.
    (second.folder / "stray").touch()
    third = run_night(project_root, folder, "2026-12-01", folder / "no-home")
    assert third.states == {**dict.fromkeys(STEPS, "clean"), "scan": "failed"}
    assert third.code == 1
    assert "no-home" in third.stderr
    assert not (third.folder / "stray").exists()
    assert not (third.folder / "scan.json").exists()
    assert sorted(path.name for path in (folder / "nights").iterdir()) == [
        "2026-11-30",
        "2026-12-01",
        "drift",
    ]


def test_it_uses_the_package_alone(project_root: Path) -> None:
    """Of the package its public names, of others nothing."""
    text = (project_root / "pipelines" / "nightly.py").read_text("utf-8")
    imported = {
        line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported - set(sys.stdlib_module_names) == {"dsh_lake"}
    assert "from dsh_lake" not in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fixtures", "TREE"], "--fixtures and --runs go together"),
        (["--date", "yesterday"], "invalid fromisoformat value: 'yesterday'"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_no_finding(
    arguments: list[str], said: str, tmp_path: Path, project_root: Path
) -> None:
    command = [sys.executable, str(project_root / "pipelines" / "nightly.py"), *arguments]
    command += ["--lake", str(tmp_path / "lake"), "--reports", str(tmp_path / "nights")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and said in run.stderr
    assert [*tmp_path.iterdir()] == []
