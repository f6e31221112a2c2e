"""``dsh-lake fixtures drift``: what it prints and how it ends."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import dsh_lake
from dsh_lake.cli.exits import run as run_here
from tests.fixtures_kit.drifting import JOB, events, log, put_fixture, put_run

SAME = log(events())


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    """Runs the command in a folder with fixtures and runs: one equal, one noisy, one changed."""
    monkeypatch.chdir(tmp_path)
    logs = {
        "equal": SAME,
        "noisy": SAME.replace(JOB, "bash-0123456789abcdef"),
        "other": SAME.replace("all done", "private \\u001b[2J words"),
    }
    for name, text in logs.items():
        put_fixture(tmp_path / "tree/session" / name, [SAME])
        put_run(tmp_path / "runs" / name, [text], scenario=name)

    def run(*arguments):
        code = run_here(["fixtures", "drift", *arguments])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return run


def test_a_handful_of_causes_comes_first(run):
    code, text, error = run("tree", "runs")
    assert (code, error) == (2, "")
    assert text == (
        "cause         tier   severity  scenarios  what it means\n"
        "text-changed  text   fail              1  only words differ\n"
        "job-ids       noise  info              1  random ids of background jobs\n"
        "\n"
        "scenario       run    part       status     line  cause\n"
        "session/noisy  noisy  session 0  different     9  job-ids\n"
        "session/other  other  session 0  different    22  text-changed\n"
        "\n"
        "3 scenarios compared, 2 differ: drift\n"
    )


def test_json_has_the_fixed_members(run):
    code, text, _ = run("tree", "runs", "--format", "json")
    document = json.loads(text)
    assert (code, document) == (2, dsh_lake.fixtures_drift("tree", "runs").document())
    assert (document["equal"], document["compared"]) == (False, 3)
    assert {"scenario", "equal", "roles", "workspace_equal"} <= document["scenarios"][0].keys()
    assert document["scenarios"][1]["roles"] == [
        {
            "role": 0,
            "status": "different",
            "first_different_line": 9,
            "cause": "job-ids",
            "tier": "noise",
            "is_noise": True,
        }
    ]


@pytest.mark.parametrize(("actual", "code"), [("equal", 0), ("noisy", 0), ("other", 2)])
def test_exit_codes(run, actual, code):
    assert run(f"tree/session/{actual}", f"runs/{actual}")[0] == code


def test_nothing_compared_and_nothing_there(run, tmp_path):
    (tmp_path / "empty").mkdir()
    code, text, error = run("tree", "empty")
    assert (code, "nothing was compared" in error, "that is no success" in text) == (1, True, True)
    assert run("tree", "nowhere")[0] == 1
    assert run("tree", "runs", "--with-text")[0] == 1


def test_a_difference_shows_no_text_unless_asked(run):
    code, text, _ = run("tree", "runs", "--diff", "other")
    assert code == 2
    assert "~ 22/22" in text and "text-changed (data.message.content[].text)" in text
    assert "21 equal lines" in text
    assert "private" not in text
    code, text, _ = run("tree", "runs", "--diff", "other", "--with-text")
    assert "private" in text and "\x1b" not in text
    code, text, _ = run("tree", "runs", "--diff", "session/other", "--format", "json")
    assert [row["change"] for row in json.loads(text)].count("changed") == 1
    assert run("tree", "runs", "--diff", "nobody")[0] == 1


def test_reports_for_ci(run):
    code, text, _ = run("tree", "runs", "--format", "junit")
    suite = ElementTree.fromstring(text)
    assert (code, suite.get("tests"), suite.get("failures"), suite.get("errors")) == (2, "3", "1", "0")
    code, text, _ = run("tree", "runs", "--format", "github")
    assert text.startswith(
        "::error file=tree/session/other,title=text-changed::session/other: session 0 from line 22"
    )
    code, text, _ = run("tree", "runs", "--format", "sarif")
    (result,) = json.loads(text)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("text-changed", "error")


def test_a_file_says_how_grave_a_tier_is(run, tmp_path):
    (tmp_path / "drift.toml").write_text('[severity]\ntext = "info"\n', "utf-8")
    code, text, _ = run("tree", "runs", "--config", "drift.toml")
    assert (code, text.splitlines()[-1]) == (0, "3 scenarios compared, 2 differ: nothing that fails")
