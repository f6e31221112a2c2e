"""``dsh-lake redact-check``: what it prints in each format, and how it ends."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import dsh_lake
from cli.runs import GOLDEN, Cli
from logs import event, frame, header, log_path, user

SECRETS = ("sk-0123456789abcdef", "Bearer abcdefgh.12345", "hunter2hunter2")
FORMATS = ("table", "json", "csv", "ndjson", "markdown", "junit", "github", "sarif")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with three secrets, one of them twice, in a folder with an odd name."""
    folder = tmp_path_factory.mktemp("secrets")
    key, bearer, password = SECRETS
    lines = (
        user(0, f"use {key}"),
        user(1, f"X-Header: {bearer}"),
        event("session/title", 2, {"title": f"password={password}"}),
        user(3, f"again: {key}"),
    )
    log_path(folder / "home", "odd\x1b[31m").write_bytes(frame(header("one")) + frame(*lines))
    dsh_lake.scan(folder / "home", lake=folder / "lake", jobs=1)
    return folder / "lake"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session without secrets."""
    folder = tmp_path_factory.mktemp("clean")
    log_path(folder / "home", "one").write_bytes(frame(header("one")) + frame(user(0, "hello")))
    dsh_lake.scan(folder / "home", lake=folder / "lake", jobs=1)
    return folder / "lake"


def anonymous(text: str, lake: Path) -> str:
    """The text as any run prints it: fingerprints by the order of their first appearance."""
    seen: dict[str, str] = {}
    text = text.replace(str(lake.parent), "/demo")
    return re.sub(r"\b[0-9a-f]{12}\b", lambda hit: seen.setdefault(hit[0], f"{len(seen) + 1:012}"), text)


def test_for_people(cli: Cli, lake: Path) -> None:
    run = cli("redact-check", "--lake", lake)
    assert (run.code, run.stderr) == (2, "")
    assert anonymous(run.text, lake) == (GOLDEN / "redact_check.txt").read_text("utf-8")


@pytest.mark.parametrize("chosen", FORMATS)
def test_no_format_shows_a_secret_or_what_a_terminal_would_act_on(cli: Cli, lake: Path, chosen: str) -> None:
    run = cli("redact-check", "--lake", lake, "--format", chosen, "--verbose")
    assert run.code == 2
    shown = run.text + run.stderr
    assert [secret for secret in SECRETS if secret in shown or secret[3:-3] in shown] == []
    assert "\x1b" not in shown or chosen in ("csv", "markdown", "ndjson")


def test_json_and_rows_have_all_findings(cli: Cli, lake: Path) -> None:
    result = json.loads(cli("redact-check", "--lake", lake, "--format", "json").stdout)
    assert [one["kind"] for one in result["findings"]].count("token") == 2
    lines = cli("redact-check", "--lake", lake, "--format", "ndjson").text.splitlines()
    untold = [{**one, "fingerprint": None} for one in result["findings"]]
    assert [{**json.loads(line), "fingerprint": None} for line in lines] == untold
    rows = list(csv.DictReader(cli("redact-check", "--lake", lake, "--format", "csv").text.splitlines()))
    assert [row["kind"] for row in rows] == [one["kind"] for one in result["findings"]]


def test_reports_for_ci(cli: Cli, lake: Path, tmp_path: Path) -> None:
    cli("redact-check", "--lake", lake, "--format", "junit", "-o", tmp_path / "secrets.xml")
    (suite,) = ET.parse(tmp_path / "secrets.xml").getroot()
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert (suite.get("tests"), failed) == ("5", {"token", "bearer", "assignment"})
    (log,) = json.loads(cli("redact-check", "--lake", lake, "--format", "sarif").stdout)["runs"]
    assert {one["ruleId"] for one in log["results"]} == failed
    assert cli("redact-check", "--lake", lake, "--format", "github").text.count("::error ") == 5


def test_nothing_found(cli: Cli, clean: Path) -> None:
    run = cli("redact-check", "--lake", clean)
    assert run.code == 0
    assert run.text.endswith("no secrets in 9 columns of text\n")


def test_nothing_to_check(cli: Cli, clean: Path, tmp_path: Path) -> None:
    cli("scan", clean.parent / "home", "--lake", tmp_path / "bare", "--no-content")
    run = cli("redact-check", "--lake", tmp_path / "bare")
    assert (run.code, run.stdout) == (1, b"")
    assert "no text in it to be checked" in run.stderr
    assert cli("redact-check", "--lake", tmp_path / "none").code == 1
