"""Every law of the fuzz targets on a few made inputs; ``python -m tests.fuzz`` tries them for longer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.runs import ROOT
from corpus import THOROUGH
from dsh_lake.records.session import KNOWN_TYPES
from tests import logs
from tests.cassette.made import bodies, calls, write
from tests.fuzz import targets
from tests.fuzz.__main__ import NAMES
from tests.fuzz.seeds import seeds
from tests.strategies_frames import damaged

# With DSH_LAKE_THOROUGH as many as the profile says.
some, few = (settings(), settings()) if THOROUGH else (settings(max_examples=15), settings(max_examples=2))

TEXTS = st.sampled_from(["", "s", "../../x", "\ud800", "\x00", "\u202e", "=1+1", "9" * 400]) | st.text(
    max_size=5
)
NUMBERS = st.sampled_from([0, -1, 2**53, 2**63, 2**64, 1e308, 0.5, -0.0, 10**400]) | st.integers()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    [
        *("turn", "step", "message", "content", "usage", "stream", "callId", "name", "arguments", "error"),
        *("header", "title", "source", "inherited", "text", "texts", "chunk", "agent", "deltas", "offsets"),
    ]
)
PAYLOADS = st.dictionaries(MEMBERS, VALUES | st.dictionaries(MEMBERS, VALUES, max_size=3), max_size=6)
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from([*sorted(KNOWN_TYPES), "text-chunks", "session", "new"])},
    optional={
        "seq": NUMBERS,
        "time": NUMBERS,
        "data": PAYLOADS | VALUES,
        "surfaceOp": VALUES,
        "ignorable": VALUES,
        "seq0": NUMBERS,
        "time0": NUMBERS,
    },
)
HEADERS = st.fixed_dictionaries(
    {"type": st.just("session"), "id": TEXTS},
    optional=dict.fromkeys(("version", "createdAt", "cwd", "isSeeded", "seedLength", "origin"), VALUES),
)


def _line(record: Any, ascii_only: bool) -> bytes:
    return json.dumps(record, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") + b"\n"


@st.composite
def damaged_bytes(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes of which mostly none, else one or two are others."""
    content = bytearray(draw(whole))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2])) if content else 0):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content)


LOGS = damaged_bytes(
    st.builds(
        lambda header, events, ascii_only: b"".join(_line(each, ascii_only) for each in (header, *events)),
        HEADERS | st.just(json.loads(logs.header("s"))),
        st.lists(EVENTS, max_size=6),
        st.booleans(),
    )
)


@some
@given(damaged())
def test_frames(data: bytes) -> None:
    targets.frames(data)


@some
@given(damaged_bytes(st.lists(LOGS.map(logs.frame), max_size=3).map(b"".join)))
def test_archives(data: bytes) -> None:
    targets.archives(data)


@some
@given(LOGS)
def test_lines(data: bytes) -> None:
    targets.lines(data)


@few
@given(LOGS)
def test_sessions(data: bytes) -> None:
    targets.sessions(data)


@given(damaged_bytes(VALUES.map(json.dumps).map(str.encode)))
def test_canonical(data: bytes) -> None:
    targets.canonical(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples: each overwrites the file of the last."""
    return tmp_path_factory.mktemp("fuzz")


@few
@given(st.lists(calls, max_size=3), st.sampled_from(["metadata", "full"]), st.data())
def test_cassettes(folder: Path, described: Any, storage: str, data: st.DataObject) -> None:
    path = write(folder / "x.cassette.jsonl", bodies(described, storage), storage)
    targets.cassettes(data.draw(damaged_bytes(st.just(path.read_bytes()))))


MANIFEST_MEMBERS = {
    "scenario": TEXTS,
    "environment": st.dictionaries(TEXTS | st.just("A"), VALUES, max_size=2),
    "session": st.fixed_dictionaries({"source": st.sampled_from(["../x", "/etc", "a\\b", "\0"]) | VALUES}),
    "header": st.fixed_dictionaries({"class": st.just("a") | VALUES}, optional={"changes": NUMBERS}),
    "sessionFormat": st.fixed_dictionaries({"version": NUMBERS, "coverage": VALUES}),
    "input": st.dictionaries(st.sampled_from(["task", "attachments", "x"]), VALUES, max_size=2),
    "x": VALUES,
}


@some
@given(
    damaged_bytes(
        st.fixed_dictionaries(
            {"version": st.just(1), "profile": st.just("web")}, optional=MANIFEST_MEMBERS
        ).map(lambda members: json.dumps(members).encode())
    )
)
def test_manifests(data: bytes) -> None:
    targets.manifests(data)


@some
@given(LOGS)
def test_fixture_logs(data: bytes) -> None:
    targets.fixture_logs(data)


PARTS = st.sampled_from(
    [
        *(b"sessions", b"--w--", b"s", b"session.v4.jsonl", b"session.jsonl.zstd", b"session.1.jsonl"),
        *(b"snapshot.yml", b"x.cassette.jsonl", b"\xff", b"a\n\x1b[2J", "\u202e".encode(), b"c:\\x", b".. "),
    ]
)
PATHS = st.lists(PARTS, min_size=1, max_size=4).map(b"/".join)
GOALS = st.sampled_from(
    [b"..", b"../..", b".", b"/", b"/etc", b"../session.v4.jsonl", b"sessions", b"\xff", b"s" * 300]
)


@some
@given(st.lists(PATHS | st.builds(lambda path, goal: path + b"->" + goal, PATHS, GOALS), max_size=6))
def test_names(entries: list[bytes]) -> None:
    targets.names(b"\0".join(entries))


@pytest.mark.parametrize("name", NAMES)
def test_every_target_has_seeds_that_keep_its_laws(name: str) -> None:
    assert set(targets.TARGETS) == set(NAMES)
    made = seeds(name)
    assert made
    targets.TARGETS[name](made[-1])


def test_a_file_that_was_found_is_tried_again_by_command(tmp_path: Path) -> None:
    (tmp_path / "found").write_bytes(b"version: 1\nprofile: web\n")
    _run("--target", "manifests", tmp_path / "found")


@pytest.mark.skipif(not THOROUGH, reason="takes long: set DSH_LAKE_THOROUGH=1")
def test_every_target_runs_under_the_fuzzer(tmp_path: Path) -> None:
    pytest.importorskip("atheris", reason="needs the extra fuzz")
    assert "cov:" in _run("--minutes", "0.5", "--corpus", tmp_path)


def _run(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "tests.fuzz", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stderr
