"""``dsh-lake fixtures normalize``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json

import pytest
import zstandard

import dsh_lake
from dsh_lake.errors import FixtureError, FrameError, RecordError, UnreadableSource
from dsh_lake.fixtures.log_files import read_log_file
from dsh_lake.fixtures.normalize import normalize_scenario
from tests.cli.runs import run_here
from tests.fixtures_kit.runs import CHILD, CWD, SESSION, rows, tool_events, v0_events, v0_header, v4_header

PARENT = rows(v0_header(), *v0_events())
OWN = rows(v4_header(CHILD, parentSession=SESSION), *tool_events())


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    """Runs the command in a folder that holds a parent, and a child whose frames are compressed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parent.jsonl").write_text(PARENT, "utf-8")
    frames = [zstandard.compress((line + "\n").encode()) for line in OWN.splitlines()]
    (tmp_path / "child.jsonl.zstd").write_bytes(b"".join(frames))

    def run(*arguments):
        code = run_here(["fixtures", "normalize", *arguments])
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return run


def test_texts_come_one_after_the_other_and_as_json_in_a_list(run):
    expected = normalize_scenario([PARENT, OWN])
    assert run("parent.jsonl", "child.jsonl.zstd") == (0, "".join(expected), "")
    code, text, _ = run("parent.jsonl", "child.jsonl.zstd", "--format", "json")
    assert (code, json.loads(text)) == (0, {"logs": expected})
    assert dsh_lake.fixtures_normalize(["parent.jsonl", "child.jsonl.zstd"]) == {"logs": expected}


def test_options_reach_the_comparison(run):
    assert run("parent.jsonl", "--cwd", "/other")[1] == normalize_scenario([PARENT], cwd="/other")[0]
    assert f'"cwd":"{CWD}"' in run("parent.jsonl", "--cwd", "/other")[1]
    assert '"cwd":"{{cwd}}"' in run("parent.jsonl", "--cwd", "/other", "--cwd-alias", CWD)[1]
    delivered = rows(
        v4_header(),
        *tool_events(),
        {
            "type": "session-log-deepseek/delivery-accepted",
            "data": {"sessionId": SESSION, "throughSeq": 1, "sessionFormatVersion": 4},
        },
    )
    with open("delivered.jsonl", "w", encoding="utf-8") as file:
        file.write(delivered)
    assert "sourceSessionFormatVersion" not in run("delivered.jsonl")[1]
    assert "{{sourceSessionFormatVersion}}" in run("delivered.jsonl", "--native-writer")[1]


def test_ids_that_become_one_are_told(run):
    odd = OWN.replace('"id":"aaaaaaaa-0000-4000-8000-000000000004"', '"id":"{{message:1}}"')
    with open("odd.jsonl", "w", encoding="utf-8") as file:
        file.write(odd)
    code, text, told = run("odd.jsonl")
    assert (code, text) == (0, normalize_scenario([odd])[0])
    assert "warning: {{message:1}} stands for two ids" in told
    assert run("odd.jsonl", "--quiet")[2] == ""


def test_files_are_named_by_role(run, tmp_path):
    assert run("parent.jsonl", "child.jsonl.zstd", "-o", "out/deep") == (0, "", "")
    written = {file.name: file.read_bytes().decode() for file in (tmp_path / "out/deep").iterdir()}
    assert written == dict(
        zip(["session.jsonl", "session.1.jsonl"], normalize_scenario([PARENT, OWN]), strict=True)
    )


def test_a_log_that_was_read_is_never_overwritten(run, tmp_path):
    (tmp_path / "session.jsonl").write_text(PARENT, "utf-8")
    code, _, error = run("session.jsonl", "-o", ".")
    assert code == 1
    assert "session.jsonl was read" in error
    assert (tmp_path / "session.jsonl").read_text("utf-8") == PARENT


def test_a_refusal_names_the_file_and_prints_nothing(run, tmp_path):
    (tmp_path / "bad.jsonl").write_text(PARENT.replace('"initial"', '"fallback"'), "utf-8")
    code, text, error = run("parent.jsonl", "bad.jsonl")
    assert (code, text) == (1, "")
    assert error.startswith(f'error: bad.jsonl: session "{SESSION}" contains unsupported legacy')


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\xff\n", RecordError),
        (PARENT.encode() + b'{"type":"\xc3"}\n', RecordError),
        (zstandard.compress(PARENT.encode())[:-6], FrameError),
        (zstandard.compress(PARENT.encode()) + b"rest", FrameError),
    ],
    ids=["utf-8", "utf-8 later", "torn", "unframed"],
)
def test_a_file_is_read_wholly_or_not_at_all(tmp_path, content, error):
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(error):
        read_log_file(tmp_path / "log")


def test_files_that_are_not_there_and_no_files_at_all(tmp_path):
    with pytest.raises(UnreadableSource):
        dsh_lake.fixtures_normalize([tmp_path / "none"])
    with pytest.raises(FixtureError):
        dsh_lake.fixtures_normalize([])
