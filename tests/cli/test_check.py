"""``dsh-lake check``: what it prints in each format, and how it ends."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import dsh_lake
from cli.runs import GOLDEN, Cli
from demo_lake import DemoLake
from dsh_lake import sqlassets
from dsh_lake.cli.check_text import check_text
from logs import assistant, event, frame, header, log_path, user

ONLY = ("--only", "missing_parents", "--only", "usage_sum_mismatches", "--only", "unaccounted_bytes")
ODD = "odd\x1b[31m"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session whose parent is gone, with an odd id, and an answer whose total is one too many."""
    folder = tmp_path_factory.mktemp("checked")
    message = json.loads(assistant(1, 1, 1, 5))["data"]
    message["usage"]["totalTokens"] = 31
    events = frame(user(0, "hello"), event("assistant/message", 1, message))
    log_path(folder / "home", "one").write_bytes(frame(header("one", parentSession=ODD)) + events)
    dsh_lake.scan(folder / "home", lake=folder / "lake", jobs=1)
    return folder / "lake"


@pytest.fixture(scope="module")
def warned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session whose parent is gone, and nothing else to find."""
    folder = tmp_path_factory.mktemp("warned")
    log_path(folder / "home", "one").write_bytes(
        frame(header("one", parentSession="gone")) + frame(user(0, "x"))
    )
    dsh_lake.scan(folder / "home", lake=folder / "lake", jobs=1)
    return folder / "lake"


def test_a_sound_lake_passes_every_check(cli: Cli, demo: DemoLake) -> None:
    run = cli("check", "--lake", demo.lake, "--format", "json")
    result = json.loads(run.stdout)
    assert [check["name"] for check in result["checks"]] == [*sqlassets.load("checks")]
    failed = [finding for finding in result["findings"] if finding["severity"] == "fail"]
    assert (run.code, result["ok"], failed) == (0, True, [])


def test_for_people(cli: Cli, lake: Path) -> None:
    run = cli("check", *ONLY, "--lake", lake)
    assert (run.code, run.stderr) == (2, "")
    assert run.text.replace(str(lake.parent), "/demo") == (GOLDEN / "check.txt").read_text("utf-8")


def test_warnings_alone_are_printed_and_end_well(cli: Cli, warned: Path) -> None:
    run = cli("check", *ONLY, "--lake", warned)
    assert run.code == 0
    assert "warn missing_parents" in run.text
    assert run.text.endswith("3 checks: 0 failed, 1 with warnings\n")


def test_json_is_the_result_of_the_function(cli: Cli, lake: Path) -> None:
    result = json.loads(cli("check", *ONLY, "--lake", lake, "--format", "json").stdout)
    assert result == dsh_lake.check(lake, only=[name for name in ONLY if name != "--only"])
    (parent, total) = result["findings"]
    assert (parent["check"], parent["severity"], parent["line"]) == ("missing_parents", "warn", None)
    assert (total["subject_kind"], total["subject_id"], total["line"]) == ("session", "one", 3)
    assert total["message"].startswith("the record states 31 tokens in all, its parts are 30;")


def test_rows_have_one_for_each_finding(cli: Cli, lake: Path) -> None:
    findings = json.loads(cli("check", *ONLY, "--lake", lake, "--format", "json").stdout)["findings"]
    lines = cli("check", *ONLY, "--lake", lake, "--format", "ndjson").text.splitlines()
    assert [json.loads(line) for line in lines] == findings
    rows = list(csv.DictReader(cli("check", *ONLY, "--lake", lake, "--format", "csv").text.splitlines()))
    assert [row["message"] for row in rows] == [finding["message"] for finding in findings]
    assert len(cli("check", *ONLY, "--lake", lake, "--format", "markdown").text.splitlines()) == 2 + len(
        findings
    )


def test_reports_for_ci(cli: Cli, lake: Path, tmp_path: Path) -> None:
    run = cli("check", *ONLY, "--lake", lake, "--format", "junit", "-o", tmp_path / "checks.xml")
    assert (run.code, run.stdout) == (2, b"")
    (suite,) = ET.parse(tmp_path / "checks.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    assert {case.get("name"): [child.tag for child in case] for case in suite} == {
        "missing_parents": ["system-out"],
        "usage_sum_mismatches": ["failure"],
        "unaccounted_bytes": [],
    }
    warning, error = cli("check", *ONLY, "--lake", lake, "--format", "github").text.splitlines()
    assert re.match(r"::warning file=[^,]*,title=missing_parents::", warning)
    assert re.match(r"::error file=[^,]*,line=3,title=usage_sum_mismatches::", error)
    (log,) = json.loads(cli("check", *ONLY, "--lake", lake, "--format", "sarif").stdout)["runs"]
    assert [result["level"] for result in log["results"]] == ["warning", "error"]


@pytest.mark.parametrize("chosen", ["table", "junit", "github", "sarif"])
def test_nothing_reaches_a_terminal_that_it_would_act_on(cli: Cli, lake: Path, chosen: str) -> None:
    assert "\x1b" not in cli("check", *ONLY, "--lake", lake, "--format", chosen).text


def test_a_check_that_there_is_not(cli: Cli, lake: Path) -> None:
    run = cli("check", "--only", "nonsense", "--lake", lake)
    assert (run.code, run.stdout) == (1, b"")
    assert "nonsense" in run.stderr


def test_many_findings_are_counted_beyond_the_first() -> None:
    finding = {
        "check": "c",
        "severity": "warn",
        "subject_id": "s",
        "path": None,
        "position": None,
        "message": "m",
    }
    check = {"name": "c", "severity": "warn", "doc": "What.", "findings": 25}
    text = check_text({"ok": True, "checks": [check], "findings": [finding] * 25}, None)
    assert text.count("  s: m\n") == 20
    assert "and 5 more: `dsh-lake check --only c --format csv` shows all" in text
