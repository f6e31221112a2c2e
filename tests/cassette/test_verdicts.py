"""Of one file: the original's verdict, first fault and texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsh_lake.cassette import find_faults, load, outputs
from dsh_lake.cassette.groups import ambiguous_groups
from dsh_lake.cassette.loading import as_error
from tests.cassette.cases import ROOTS, as_original, cases


def printed(output, folder):
    """An output as the corpus writes one down; encoding it must be possible."""
    stdout = "".join(output.stdout).encode().decode()
    return {
        "exit": output.exit,
        "stdout": stdout.replace(folder, "@DIR@"),
        "stderr": output.stderr.encode().decode().replace(folder, "@DIR@"),
    }


@pytest.fixture
def here(monkeypatch):
    def enter(folder: Path) -> str:
        monkeypatch.chdir(folder)
        return str(Path.cwd())

    return enter


@pytest.mark.parametrize(("folder", "name", "expected"), cases("valid"))
def test_valid_cassette(folder, name, expected, here):
    at = here(folder)
    file = f"{name}.cassette.jsonl"
    assert printed(outputs.verify(file), at) == expected["verify"]
    assert printed(outputs.verify(file, as_json=True), at) == expected["inspect_json"]
    assert printed(outputs.inspect(file), at) == expected["inspect"]
    assert printed(outputs.inspect(file, show_calls=True), at) == expected["inspect_calls"]
    assert printed(outputs.inspect(file, as_json=True), at) == expected["inspect_json"]
    as_json = outputs.inspect(file, as_json=True, show_calls=True)
    assert printed(as_json, at) == expected["inspect_json_calls"]


@pytest.mark.parametrize(("folder", "name", "expected"), cases("valid"))
def test_facts_of_a_valid_cassette(folder, name, expected):
    path = folder / f"{name}.cassette.jsonl"
    cassette = load(path)
    assert find_faults(path) == []
    assert len(cassette.interactions) == len(cassette.records) == expected["interactions"]
    assert cassette.header.computed_sha256 == cassette.header.stated_sha256 == expected["header_hash"]
    last = cassette.interactions[-1] if cassette.interactions else cassette.header
    assert last.computed_sha256 == expected["last_hash"]
    assert [list(group) for group in ambiguous_groups(cassette.interactions)] == expected["ambiguous_groups"]


@pytest.mark.parametrize(("folder", "name", "expected"), cases("invalid"))
def test_invalid_cassette(folder, name, expected, here):
    at = here(folder)
    file = f"{name}.cassette.jsonl"
    assert printed(outputs.verify(file), at) == expected["verify"]
    assert printed(outputs.verify(file, as_json=True), at) == expected["verify"]
    assert printed(outputs.inspect(file), at) == expected["verify"]


@pytest.mark.parametrize(("folder", "name", "expected"), cases("invalid"))
def test_least_fault_is_the_originals(folder, name, expected):
    faults = find_faults(folder / f"{name}.cassette.jsonl")
    places = [(fault.line, fault.rank) for fault in faults]
    assert places == sorted(set(places))  # in order, and no two faults in one place
    error = dict(expected["error"])
    line = error.pop("line")
    assert as_original(as_error(faults[0])) == error
    assert line is None or faults[0].line == line


def command_lines():
    """The corpus's command lines that are well formed: what is left is content."""
    for origin, root in ROOTS.items():
        path = root / "cli" / "expected.json"
        for name, case in json.loads(path.read_text("utf-8")).items() if path.is_file() else ():
            command, *rest = case["args"] or [""]
            files = [arg for arg in rest if not arg.startswith("-")]
            options = {arg for arg in rest if arg.startswith("-")}
            wanted = {"verify": 1, "inspect": 1, "diff": 2}.get(command)
            if len(files) == wanted and options <= {"--json", "--show-calls"}:
                yield pytest.param(root / "cli", command, files, options, case, id=f"{origin}-{name}")


@pytest.mark.parametrize(("folder", "command", "files", "options", "case"), list(command_lines()))
def test_command_line(folder, command, files, options, case, tmp_path, here):
    for source in folder.glob("*.jsonl"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    for target, source in case.get("copies", {}).items():
        (tmp_path / target).parent.mkdir(exist_ok=True)
        (tmp_path / target).write_bytes((folder / source).read_bytes())
    at = here(tmp_path)
    chosen = {"as_json": "--json" in options}
    if command != "verify":
        chosen["show_calls"] = "--show-calls" in options
    got = printed(getattr(outputs, command)(*files, **chosen), at)
    assert got == {key: case[key] for key in got}
