"""Reports for CI: what other programs read out of them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from urllib.parse import unquote

import pytest

from dsh_lake.cassette.verification import verify
from dsh_lake.reports import github, junit, sarif
from tests.cassette.made import bodies, write

PROMPT = {"prompt": []}
ODD_NAME = "c, d: 100%\u202e\x07.jsonl"


def ended(reason):
    return {"kind": "result", "redactions": 0, "result": {"output": [], "stopReason": reason}}


@pytest.fixture(scope="module")
def verification(tmp_path_factory):
    """A sound, an ambiguous, two faulty cassettes and a missing one."""
    folder = tmp_path_factory.mktemp("reports")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    calls = [(PROMPT, ended("completed"), "root"), (PROMPT, ended("completed"), "root")]
    write("a.cassette.jsonl", bodies(calls))
    write("b.cassette.jsonl", bodies([calls[0], (PROMPT, ended("aborted"), "root")]))
    text = write(folder / ODD_NAME, bodies(calls)).read_text()
    changed = text.replace("completed", "other")
    (folder / ODD_NAME).write_text("\n\n" + changed)  # blank lines: records and lines of the file differ
    (folder / "e.cassette.jsonl").write_text(text.splitlines()[0].replace("metadata", "<&\ufffe>\x1b") + "\n")
    names = ["a.cassette.jsonl", "b.cassette.jsonl", ODD_NAME, "e.cassette.jsonl", "none.jsonl"]
    yield verify(names)
    patch.undo()


def test_junit_counts_and_tells_each_cassette(verification):
    suites = ET.fromstring(junit(verification))
    (suite,) = suites
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "2", "1")
    sound, ambiguous, changed, odd, missing = suite
    assert len(sound) == 0
    assert [child.tag for child in ambiguous] == ["system-out"]
    assert "ambiguous-group" in ambiguous[0].text
    assert changed[0].tag == "failure"
    assert changed[0].get("type") == "hash-mismatch"
    assert changed[0].text.splitlines() == [f"hash-mismatch: line {line} hash mismatch" for line in (2, 3)]
    assert odd[0].tag == "failure"
    assert (missing[0].tag, missing[0].get("type")) == ("error", "unreadable")
    assert changed.get("name") == "c, d: 100%\\u{202e}\\u{0007}.jsonl"


def test_github_annotations_stand_at_lines_of_the_file(verification):
    lines = github(verification).splitlines()
    pattern = re.compile(r"::(error|warning) file=([^,:]*)(?:,line=(\d+))?,title=([^,:]*)::(.*)")
    told = [pattern.fullmatch(line).groups() for line in lines]
    assert len(told) == len(verification.findings)
    odd = "c%2C d%3A 100%25\\u{202e}\\u{0007}.jsonl"
    assert ("error", odd, "4", "hash-mismatch", "line 2 hash mismatch") in told
    assert ("error", odd, "5", "hash-mismatch", "line 3 hash mismatch") in told
    assert [(severity, line) for severity, _, line, code, _ in told if code == "ambiguous-group"] == [
        ("warning", "2")
    ]
    assert [line for *_, line, code, _ in told if code == "unreadable"] == [None]


def test_sarif_names_a_rule_and_a_place_for_each_finding(verification):
    log = json.loads(sarif(verification))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = run["tool"]["driver"]["rules"]
    for result, finding in zip(run["results"], verification.findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.code
        assert result["level"] == {"fail": "error", "warn": "warning"}[finding.severity]
        (place,) = result["locations"]
        assert unquote(place["physicalLocation"]["artifactLocation"]["uri"]) == finding.path
        region = place["physicalLocation"].get("region")
        assert (region and region["startLine"]) == finding.physical_line
