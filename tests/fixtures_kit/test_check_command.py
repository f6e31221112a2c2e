"""``dsh-lake fixtures check``: formats, exit codes, and names that somebody hostile has chosen."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from urllib.parse import unquote

import pytest

from tests.cli.runs import run_here
from tests.fixtures_kit.made import REQUEST, SYSTEM, edits, header, log, put, removes, sound_tree

BETA_LOG = "session/beta/session.v4.jsonl"
UNKNOWN = {"type": "tool/result", "data": {"error": {"code": "UNKNOWN_TOOL"}}, "seq": 0}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree with two faults and a warning, and that as the folder above it."""
    monkeypatch.chdir(tmp_path)
    sound_tree(tmp_path / "snapshots")
    removes("acp/alpha/input.json")(tmp_path / "snapshots")
    put(tmp_path / "snapshots", {BETA_LOG: log(header(), UNKNOWN, SYSTEM, REQUEST)})
    return tmp_path / "snapshots"


def run(capsysbinary, *arguments):
    code = run_here(["fixtures", "check", *arguments])
    captured = capsysbinary.readouterr()
    return code, captured.out.decode(), captured.err.decode()


def test_text_names_every_finding_and_the_verdict(tree, capsysbinary):
    code, text, _ = run(capsysbinary, "snapshots")
    assert code == 2
    lines = text.splitlines()
    assert lines[0].startswith("snapshots/acp/alpha/input.json: fail input-json-presence: acp/alpha: ")
    assert lines[1].startswith(f"snapshots/{BETA_LOG}#L2: fail unknown-tool: beta/session.v4.jsonl contains ")
    assert lines[2].startswith(f"snapshots/{BETA_LOG}#L2: warn envelope-kept: ")
    assert lines[-1] == "5 scenarios: not sound, 2 faults, 1 warnings"
    assert run(capsysbinary, "snapshots", "--format", "table")[1] == text
    assert run(capsysbinary, "snapshots", "--format", "text")[1] == text


def test_json_has_the_members_of_the_interface(tree, capsysbinary):
    code, text, _ = run(capsysbinary, "snapshots", "--format", "json")
    document = json.loads(text)
    assert code == 2
    assert (document["ok"], document["scenarios"]) == (False, 5)
    first = document["findings"][0]
    assert {name: first[name] for name in ("severity", "code", "scenario", "path", "message")} == {
        "severity": "fail",
        "code": "input-json-presence",
        "scenario": "acp/alpha",
        "path": "snapshots/acp/alpha/input.json",
        "message": "acp/alpha: executable input metadata is ACP-only",
    }
    assert [finding["severity"] for finding in document["findings"]] == ["fail", "fail", "warn"]


def test_first_is_the_kits_verdict_alone(tree, capsysbinary):
    code, text, _ = run(capsysbinary, "snapshots", "--first", "--format", "json")
    assert code == 2
    assert [finding["code"] for finding in json.loads(text)["findings"]] == ["input-json-presence"]


def test_junit_has_a_case_a_scenario(tree, capsysbinary):
    code, text, _ = run(capsysbinary, "snapshots", "--format", "junit")
    (suite,) = ET.fromstring(text)
    assert code == 2
    assert (suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        "fixtures",
        "5",
        "2",
        "0",
    )
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["alpha", "beta"]
    (beta,) = [case for case in suite if case.get("name") == "beta"]
    assert beta.get("classname") == "snapshots/session"
    assert [child.tag for child in beta] == ["failure", "system-out"]


def test_github_annotates_files_and_lines(tree, capsysbinary):
    code, text, _ = run(capsysbinary, "snapshots", "--format", "github")
    assert code == 2
    lines = text.splitlines()
    assert lines[1].startswith(f"::error file=snapshots/{BETA_LOG},line=2,title=unknown-tool::")
    assert lines[2].startswith(f"::warning file=snapshots/{BETA_LOG},line=2,title=envelope-kept::")
    assert len(lines) == 3


def test_sarif_is_written_to_a_file(tree, tmp_path, capsysbinary):
    code, text, _ = run(capsysbinary, "snapshots", "--format", "sarif", "-o", str(tmp_path / "out.sarif"))
    assert (code, text) == (2, "")
    (log_run,) = json.loads((tmp_path / "out.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in log_run["results"]] == [
        "input-json-presence",
        "unknown-tool",
        "envelope-kept",
    ]
    place = log_run["results"][1]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": f"snapshots/{BETA_LOG}"}, "region": {"startLine": 2}}


def test_a_sound_tree_is_clean(tmp_path, capsysbinary):
    code, text, _ = run(capsysbinary, str(sound_tree(tmp_path)))
    assert (code, text) == (0, "5 scenarios: sound, 0 faults, 0 warnings\n")
    for output_format in ("json", "junit", "github", "sarif"):
        assert run(capsysbinary, str(tmp_path), "--format", output_format)[0] == 0


def test_nothing_to_check_is_no_success(tmp_path, capsysbinary):
    assert run(capsysbinary, str(tmp_path))[0] == 1
    code, text, said = run(capsysbinary, str(tmp_path / "none"))
    assert (code, text) == (1, "")
    assert "none" in said


def test_tables_of_suites_come_from_a_file(tmp_path, capsysbinary):
    sound_tree(tmp_path / "tree")
    put(tmp_path, {"tables.json": '{"web": ["view", "gone"]}', "bad.json": '{"web": 1}'})
    arguments = (str(tmp_path / "tree"), "--registered")
    code, text, _ = run(capsysbinary, *arguments, str(tmp_path / "tables.json"), "--format", "json")
    assert code == 2
    assert [finding["code"] for finding in json.loads(text)["findings"]] == ["scenario-directory-missing"]
    assert run(capsysbinary, *arguments, str(tmp_path / "bad.json"))[0] == 1
    assert run(capsysbinary, *arguments, str(tmp_path / "none.json"))[0] == 1


def test_a_whole_corpus_is_asked_for(tmp_path, capsysbinary):
    code, text, _ = run(capsysbinary, str(sound_tree(tmp_path)), "--whole-corpus")
    assert code == 2
    assert "policy-coverage-lacking" in text


ODD = "c, d: 100%\u202e\x1b[31m\n"


@pytest.fixture
def odd_tree(tmp_path, monkeypatch):
    """A tree in which a scenario and a member of a manifest have names that terminals would act on."""
    monkeypatch.chdir(tmp_path)
    sound_tree(tmp_path)
    edits("sdk/old/snapshot.yml", "recording: live", '"\\e[31m\\u202e": 1')(tmp_path)
    (tmp_path / "web/view").rename(tmp_path / "web" / ODD)
    os.rename(os.fsencode(tmp_path / "session/beta"), os.fsencode(tmp_path / "session") + b"/\xff")
    return tmp_path


@pytest.mark.skipif(os.sep == "\\", reason="needs a file system that allows such names")
@pytest.mark.parametrize("output_format", ["text", "json", "junit", "github", "sarif"])
def test_hostile_names_are_shown_as_escapes(odd_tree, output_format, capsysbinary):
    code, text, _ = run(capsysbinary, ".", "--format", output_format)
    assert code == 2
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800-\udfff]", text)
    if output_format == "json":
        found = json.loads(text)["findings"]
        assert any(finding["scenario"] == f"web/{ODD}" for finding in found)
    elif output_format == "junit":
        assert len(ET.fromstring(text)[0]) == 5
    elif output_format == "github":
        assert all(line.startswith("::error file=") for line in text.splitlines())
    elif output_format == "sarif":
        (log_run,) = json.loads(text)["runs"]
        places = [result["locations"][0]["physicalLocation"] for result in log_run["results"]]
        assert all("\n" not in unquote(place["artifactLocation"]["uri"]) for place in places)
