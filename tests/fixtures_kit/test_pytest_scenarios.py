"""``--dsh-fixtures``: scenarios as tests, in test runs of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.fixtures_kit.drifting import put_run
from tests.fixtures_kit.made import edits, sound_tree


@pytest.fixture
def run(tmp_path):
    """Runs pytest in a folder with a sound tree; how it ended, and what it printed."""
    sound_tree(tmp_path / "tree")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")

    def run(*arguments):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "dsh_lake.pytest_plugin", *arguments]
        environment = {
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return ended.returncode, ended.stdout + ended.stderr

    return run


def test_every_scenario_is_a_test(run, tmp_path):
    code, text = run("--dsh-fixtures=tree")
    assert (code, "5 passed" in text) == (0, True)
    edits("session/beta/snapshot.yml", "scenario: beta", "scenario: gamma")(tmp_path / "tree")
    code, text = run("--dsh-fixtures=tree")
    assert (code, "1 failed, 4 passed" in text) == (1, True)
    assert "scenario-name-mismatch: tree/session/beta/snapshot.yml" in text


def test_runs_have_to_equal_them(run, tmp_path):
    same = (tmp_path / "tree/acp/alpha/session.v4.jsonl").read_text("utf-8")
    put_run(tmp_path / "runs/alpha", [same], scenario="alpha")
    put_run(tmp_path / "runs/beta", [same.replace('"initial"', '"change"')], scenario="beta")
    code, text = run("--dsh-fixtures=tree", "--dsh-runs=runs")
    assert (code, "4 failed, 1 passed" in text) == (1, True)
    assert "scenario-missing: no run: acp/child" in text
    assert "beta: session/beta: session 0 from line" in text
    assert run("--dsh-runs=runs")[0] == run("--dsh-fixtures=nowhere")[0] == pytest.ExitCode.USAGE_ERROR
