"""Captures of workspaces: what the kit captures, and what must never be followed."""

from __future__ import annotations

import os
import shutil

import pytest

from corpus import load
from dsh_lake.errors import UnreadableSource
from dsh_lake.fixtures.workspace import (
    capture_expected,
    capture_workspace,
    compare_captures,
    compare_workspace,
)
from tests.fixtures_kit.made import ORACLE, needs_oracle, put

CASES = load(ORACLE / "workspace" / "captures.json")["cases"] if ORACLE.is_dir() else []


def documents(entries):
    return [entry.document() for entry in entries]


@needs_oracle
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_captures_are_the_kits(case, tmp_path):
    folder = tmp_path / "workspace"
    shutil.copytree(ORACLE / "workspace" / "cases" / case["case"], folder, symlinks=True)
    for entry in case["expected"]:
        if entry["kind"] == "symlink":  # a copy of the corpus may hold them as plain files
            (folder / entry["path"]).unlink()
            (folder / entry["path"]).symlink_to(entry["target"])
    assert documents(capture_workspace(folder)) == case["live"]
    assert documents(capture_expected(folder)) == case["expected"]


def test_what_kind_an_entry_is(tmp_path):
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    (tmp_path / "nul").write_bytes(b"a\0b")
    (tmp_path / "surrogate").write_bytes(b"\xed\xa0\x80")
    (tmp_path / "text").write_bytes("\u00e9\r\n".encode())
    os.chmod(tmp_path / "text", 0o755)
    assert documents(capture_workspace(tmp_path)) == [
        {"path": "empty/inner", "kind": "empty-directory"},
        {"path": "nul", "kind": "binary", "base64": "YQBi"},
        {"path": "surrogate", "kind": "binary", "base64": "7aCA"},
        {"path": "text", "kind": "text", "content": "\u00e9\r\n"},
    ]


def test_directories_are_sorted_by_the_bytes_of_names(tmp_path):
    # In UTF-16, as JavaScript sorts, the last two change places.
    names = ["B", "a-b", "a", "a.txt", "\uff61", "\U0001f600"]
    for name in names:
        put(tmp_path, {name if name != "a" else "a/x": ""})
    paths = [entry.path for entry in capture_workspace(tmp_path)]
    assert paths == ["B", "a/x", "a-b", "a.txt", "\uff61", "\U0001f600"]


def test_links_are_told_and_never_followed(tmp_path):
    secret = tmp_path / "outside" / "secret"
    put(tmp_path, {"outside/secret": "s3cret"})
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "file").symlink_to(secret)
    (folder / "folder").symlink_to(secret.parent)
    (folder / "loop").symlink_to(folder)
    entries = capture_workspace(folder)
    assert {entry.kind for entry in entries} == {"symlink"}
    assert "s3cret" not in str(entries)
    assert [entry.target for entry in entries] == [str(secret), str(secret.parent), str(folder)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are a POSIX thing")
def test_pipes_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert documents(capture_workspace(tmp_path)) == [{"path": "pipe", "kind": "other"}]


def test_names_of_the_harness_are_left_out_at_the_root_of_a_live_workspace_alone(tmp_path):
    put(tmp_path, {".dsh/a": "", "in/.dsh/a": "", ".empty": "", "in/.empty": ""})
    assert [entry.path for entry in capture_workspace(tmp_path)] == [".empty", "in/.dsh/a", "in/.empty"]
    assert [entry.path for entry in capture_expected(tmp_path)] == [".dsh/a", "in/.dsh/a", "in/.empty"]


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(UnreadableSource):
        capture_workspace(tmp_path / "none")


def captured(folder, files):
    put(folder, files)
    return capture_workspace(folder)


def test_differences_are_told_by_path(tmp_path):
    before = captured(tmp_path / "a", {"same": "1", "changed": "1", "gone": "1"})
    after = captured(tmp_path / "b", {"same": "1", "changed": "2", "new": "1"})
    differences = compare_captures(before, after)
    assert [(one.path, one.expected is None, one.actual is None) for one in differences] == [
        ("changed", False, False),
        ("gone", False, True),
        ("new", True, False),
    ]
    assert compare_captures(before, before) == []
    assert [(one.path, one.expected, one.actual) for one in compare_captures(after, before)] == [
        (one.path, one.actual, one.expected) for one in differences
    ]


def test_without_a_declared_end_nothing_may_change(tmp_path):
    initial = captured(tmp_path / "a", {"seed": "1"})
    final = captured(tmp_path / "b", {"seed": "1", "out": "1"})
    (tmp_path / "scenario").mkdir()

    def differing(**kwargs):
        return [one.path for one in compare_workspace(tmp_path / "scenario", **kwargs)]

    assert differing(is_final=False, initial=initial, final=initial) == []
    assert differing(is_final=False, initial=initial, final=final) == ["out"]
    put(tmp_path, {"scenario/workspace.expected/seed": "1", "scenario/workspace.expected/out": "1"})
    assert differing(is_final=True, initial=initial, final=final) == []
    assert differing(is_final=True, initial=initial, final=initial) == ["out"]


def test_an_empty_end_is_expected_by_its_marker(tmp_path):
    put(tmp_path, {"scenario/workspace.expected/.empty": ""})
    assert compare_workspace(tmp_path / "scenario", is_final=True, initial=[], final=[]) == []
