"""The writer: modes, lock protocol, checks before writing, and what is on disk afterwards."""

from __future__ import annotations

import errno
import json
import math
import os
import re

import pytest

from dsh_lake.cassette import CassetteWriter, load
from dsh_lake.cassette.writer import expand_tokens
from dsh_lake.errors import CassetteFormatError, DshLakeError
from tests.cassette.cases import as_original, cases
from tests.cassette.made import bodies, header, write

HELLO = {"prompt": [{"type": "text", "text": "hello"}]}
DONE = {"kind": "result", "redactions": 0, "result": {"output": [], "stopReason": "completed"}}
ONE = [(HELLO, DONE, "root")]


def refusal(error, folder):
    """An error as the corpus writes one down, with its cause."""
    cause = error.__cause__
    if cause is None:
        return as_original(error, folder)
    named = errno.errorcode[cause.errno] if isinstance(cause, OSError) else "TypeError"
    return {**as_original(error, folder), "cause": named}


def attempt(folder, action):
    try:
        action()
    except DshLakeError as error:
        return refusal(error, folder)
    return "ok"


def live_body(text):
    """A body of the corpus, where null stands for NaN and a bare ``undefined`` for what is no JSON."""
    body = json.loads(text.replace(":undefined", ':"@undefined"'))
    metadata = body["request"].get("metadata", {})
    if metadata.get("label") == "@undefined":
        metadata["label"] = object()
    if body["timing"]["durationMs"] is None:
        body["timing"]["durationMs"] = math.nan
    return body


@pytest.mark.parametrize(("folder", "name", "expected"), cases("writer"))
def test_writing(folder, name, expected, tmp_path):
    path, lock = tmp_path / "out.cassette.jsonl", tmp_path / "out.cassette.jsonl.writer.lock"
    if expected["existing"] is not None:
        path.write_bytes(expected["existing"].encode())
    if expected["lock_before"] is not None:
        lock.mkdir()
        for marker in expected["lock_before"]:
            (lock / marker).touch()
    got = {}
    try:
        writer = CassetteWriter(path, json.loads(expected["header"]), expected["mode"])
    except DshLakeError as error:
        got["open_error"] = refusal(error, str(tmp_path))
    else:
        got = written(writer, expected, tmp_path, lock)
    got["lock_left"] = lock.exists()
    got["file"] = path.read_bytes().decode() if path.exists() else None
    if path.exists():
        got["verifies"] = attempt(str(tmp_path), lambda: load(path))
    assert got == {key: expected.get(key) for key in got}


def written(writer, expected, tmp_path, lock):
    """Append the case's bodies and close; what was seen on the way."""
    (marker,) = lock.iterdir()
    shape = re.sub(r'"[0-9a-f-]{36}"', '"<uuid>"', marker.read_text())
    shape = re.sub(r'"acquiredAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', '"acquiredAt":"<iso>"', shape)
    requested = writer.header == json.loads(expected["header"])
    got = {
        "lock_while_open": [re.sub("^[0-9a-f-]{36}", "<uuid>", marker.name)],
        "lock_marker_shape": shape.replace(str(os.getpid()), "<pid>"),
        "next_sequence": writer.next_sequence,
        "existing_interactions": writer.existing_interactions,
        "header_kept": "requested" if requested else "existing",
    }
    at = str(tmp_path)
    live = [live_body(text) for text in expected["bodies"]]
    got["appends"] = [attempt(at, lambda body=body: writer.append(body)) for body in live]
    if expected["extra_file_put_in_lock_before_close"]:
        (lock / "extra").touch()
    got["close"] = attempt(at, writer.close)
    got["append_after_close"] = attempt(at, lambda: writer.append({}))
    return got


def test_folders_are_made_and_a_link_is_locked_where_it_leads(tmp_path):
    target = write(tmp_path / "a" / "b" / "real.cassette.jsonl", bodies(ONE))
    link = tmp_path / "link.cassette.jsonl"
    link.symlink_to(target)
    with CassetteWriter(link, header(), "append"):
        assert (target.parent / "real.cassette.jsonl.writer.lock").is_dir()
        with pytest.raises(CassetteFormatError, match="another writer may be active"):
            CassetteWriter(target, header(), "append")
    assert len(load(link).interactions) == 1


def test_a_marker_that_is_gone_leaves_the_lock_to_its_new_owner(tmp_path):
    writer = CassetteWriter(tmp_path / "x.cassette.jsonl", header(), "create")
    lock = tmp_path / "x.cassette.jsonl.writer.lock"
    for marker in lock.iterdir():
        marker.unlink()
    (lock / "other.json").touch()
    writer.close()
    assert [marker.name for marker in lock.iterdir()] == ["other.json"]


def test_a_failed_open_gives_the_lock_back(tmp_path):
    path = tmp_path / "x.cassette.jsonl"
    path.write_text("no cassette\n")
    with pytest.raises(CassetteFormatError, match="line 1 is not valid JSON"):
        CassetteWriter(path, header(), "append")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_folder_cannot_be_made_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CassetteFormatError, match="cannot resolve cassette path"):
        CassetteWriter(tmp_path / "file" / "x.cassette.jsonl", header(), "create")


def test_a_broken_writer_raises_at_the_end_of_the_block(tmp_path):
    broken = [{**body, "note": 1} for body in bodies(ONE)]
    with pytest.raises(CassetteFormatError, match=r"^line 2\.note is not supported$"):
        write(tmp_path / "x.cassette.jsonl", broken)


def test_file_name_tokens():
    expanded = expand_tokens("{pid}-{timestamp}.jsonl")
    assert re.fullmatch(rf"{os.getpid()}-\d{{8}}T\d{{9}}Z\.jsonl", expanded)
