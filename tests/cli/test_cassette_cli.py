"""`dsh-lake cassette ...`: what goes to which stream, and the exit code."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from dsh_lake.cli.exits import run
from tests.cassette.cases import ROOTS, cases
from tests.cassette.made import bodies, write

MORE_IS_OFFERED = {"cli-13", "cli-15", "cli-26", "cli-30", "cli-36"}
"""Recorded command lines that mean more here; docs/cassettes.md names them."""

PROMPT = {"prompt": [{"type": "text", "text": "secret plan"}], "label": "plan"}


def ended(reason):
    return {"kind": "result", "redactions": 0, "result": {"output": [], "stopReason": reason}}


@pytest.fixture
def command(capfdbinary):
    """Run a cassette command: exit code, stdout, stderr."""

    def command(*arguments):
        code = run(["cassette", *map(str, arguments)])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return command


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two folders of the same cassettes, one call of which ended differently."""
    monkeypatch.chdir(tmp_path)
    for side, end in (("a", "completed"), ("b", "error")):
        Path(side).mkdir()
        write(f"{side}/same.cassette.jsonl", bodies([(PROMPT, ended("completed"), "root")]))
        write(f"{side}/other.cassette.jsonl", bodies([(PROMPT, ended(end), "root")]))


def command_lines():
    for origin, root in ROOTS.items():
        path = root / "cli" / "expected.json"
        for name, case in json.loads(path.read_text("utf-8")).items() if path.is_file() else ():
            yield pytest.param(root / "cli", name, case, id=f"{origin}-{name}")


@pytest.mark.parametrize(("folder", "name", "case"), list(command_lines()))
def test_recorded_command_lines(folder, name, case, tmp_path, monkeypatch, command):
    for source in folder.glob("*.jsonl"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    for target, source in case.get("copies", {}).items():
        (tmp_path / target).parent.mkdir(exist_ok=True)
        (tmp_path / target).write_bytes((folder / source).read_bytes())
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*case["args"])
    if name in MORE_IS_OFFERED:
        assert code != case["exit"]
        return
    assert code == case["exit"]
    is_about_the_command_line = "Usage:" in case["stdout"] + case["stderr"]
    if not is_about_the_command_line:
        place = str(Path.cwd())
        assert out.replace(place, "@DIR@") == case["stdout"]
        assert err.replace(place, "@DIR@") == case["stderr"]


def test_the_version_is_that_of_the_original(command):
    assert command("--version") == (0, "0.2.0\n", "")
    assert command("--version", "verify", "x")[0] == 1


def test_verify_of_a_folder_is_a_table_with_every_fault_on_demand(folders, command):
    Path("a/bad.cassette.jsonl").write_text(
        Path("a/same.cassette.jsonl").read_text().replace("completed", "c") * 2
    )
    code, out, _ = command("verify", "a")
    assert code == 2
    assert "invalid" in out and "a/bad.cassette.jsonl" in out
    assert out.endswith("3 cassettes: 2 sound, 1 invalid, 0 unreadable\n")
    everything = command("verify", "a", "--all-findings")[1]
    assert "a/bad.cassette.jsonl#L2: fail hash-mismatch: line 2 hash mismatch" in everything
    assert "a/bad.cassette.jsonl#L3: fail wrong-kind" in everything
    assert "#L3" not in out
    assert command("verify", "a/bad.cassette.jsonl", "--all-findings")[0] == 1


def test_verify_reports_for_ci(folders, command):
    assert ET.fromstring(command("verify", "a", "--format", "junit")[1]).get("tests") == "2"
    assert json.loads(command("verify", "a", "--format", "sarif")[1])["version"] == "2.1.0"
    assert command("verify", "a", "--format", "github") == (0, "", "")
    document = json.loads(command("verify", "a", "b", "--json")[1])
    assert document["counts"] == {"cassettes": 4, "sound": 4, "invalid": 0, "unreadable": 0}
    assert command("verify", "a", "--format", "junit", "-o", "out.xml")[:2] == (0, "")
    assert ET.parse("out.xml").getroot().get("tests") == "2"


def test_diff_of_folders(folders, command):
    code, out, _ = command("diff", "a", "b", "--show-calls")
    assert code == 2
    assert "outcome completed -> error" in out
    assert out.endswith("different: 1 of 2 cassettes are equivalent\n")
    assert command("diff", "a", "a")[0] == 0
    document = json.loads(command("diff", "a", "b", "--json")[1])
    statuses = {pair["path"]: pair["status"] for pair in document["pairs"]}
    assert statuses == {"other.cassette.jsonl": "different", "same.cassette.jsonl": "equivalent"}
    code, out, err = command("diff", "a", "b/same.cassette.jsonl")
    assert (code, out) == (1, "")
    assert "must be one" in err


def test_ambiguity_tells_members_and_nothing_that_was_said(tmp_path, command):
    calls = [(PROMPT, ended(end), "root") for end in ("completed", "error")]
    path = write(tmp_path / "x.cassette.jsonl", bodies(calls))
    code, out, _ = command("ambiguity", path)
    assert code == 2
    assert "which differ in stop_reason" in out
    assert "secret" not in out + json.dumps(json.loads(command("ambiguity", path, "--format", "json")[1]))
    assert command("ambiguity", write(tmp_path / "y.cassette.jsonl", bodies(calls[:1])))[0] == 0


@pytest.mark.parametrize(("folder", "name", "expected"), cases("matcher"))
def test_match(folder, name, expected, tmp_path, command):
    asked = ("op", "parentKey", "parentContextFingerprint", "requestFingerprint", "requestMetadata")
    lines = [json.dumps({member: step[member] for member in asked}) for step in expected["steps"]]
    (tmp_path / "requests.jsonl").write_text("".join(f"{line}\n" for line in lines))
    options = ["--duplicates", expected["duplicatePolicy"], "--format", "json"]
    options += ["--allow-redacted"] if expected["allowRedactedReplay"] else []
    file = folder / f"{name}.cassette.jsonl"
    code, out, err = command("match", file, tmp_path / "requests.jsonl", *options)
    if "construct_error" in expected:
        assert (code, out) == (1, "")
        assert expected["construct_error"]["message"] in err
        return
    document = json.loads(out)
    assert document["unconsumed"] == expected["unconsumed"]
    assert document["assert_consumed"] == expected["assert_consumed"]
    is_clean = not expected["unconsumed"]
    for got, step in zip(document["steps"], expected["steps"], strict=True):
        for member in ("matched", "diagnostic", "error"):
            assert got.get(member) == step.get(member)
        is_clean &= step.get("diagnostic", {}).get("status") != "mismatch"
    assert code == (0 if is_clean else 2)
    assert command("match", file, tmp_path / "requests.jsonl", *options[:2], *options[4:])[0] == code


@pytest.mark.parametrize("line", ["", "[]", '{"op":"look"}', '{"op":"match","parentKey":1}'])
def test_a_line_that_is_no_request_is_refused(line, tmp_path, command):
    path = write(tmp_path / "x.cassette.jsonl", bodies([(PROMPT, ended("completed"), "root")]))
    (tmp_path / "requests.jsonl").write_text(f"\n{line}x\n")
    code, _, err = command("match", path, tmp_path / "requests.jsonl")
    assert code == 1
    assert "requests.jsonl#L2: " in err
