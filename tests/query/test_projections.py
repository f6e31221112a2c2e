"""DSH's own figures: found beside the log, read where their shape is known, compared where current."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dsh_lake
from corpus import CORPUS
from dsh_lake.projections import cache_path, read_projections
from logs import assistant, frame, header, log_path, user

TOTALS = ("uncachedInputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def cache(seq: int = 3, **totals: int) -> dict[str, Any]:
    """A cache file as DSH writes it, in what matters."""
    given = {name: totals.get(name, 0) for name in TOTALS}
    value = {"totals": given, "last": None}
    rows = {"title": {"ver": 1, "seq": seq, "val": "t"}, "tokenUsage": {"ver": 2, "seq": seq, "val": value}}
    return {"version": 7, "record": {"identity": {"formatVersion": 4}, "rows": rows}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of one session: two answers of 5 and 10 input tokens, 10 and 20 output, 15 and 30 read."""
    home = tmp_path / "home"
    events = [user(0, "hello"), assistant(1, 1, 1, 5), assistant(2, 1, 2, 10)]
    log_path(home, "one").write_bytes(frame(header("one")) + frame(*events))
    return home


def put(home: Path, content: dict[str, Any] | str) -> Path:
    (log,) = home.glob("sessions/*/*/session*")
    path = cache_path(str(log))
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def messages(home: Path) -> list[str]:
    lake = home.parent / "lake"
    dsh_lake.scan(home, lake=lake, jobs=1)
    result = dsh_lake.check(lake, only=["projection_disagreements"])
    assert result["ok"] == (result["findings"] == [])
    return [finding["message"] for finding in result["findings"]]


RIGHT = {"uncachedInputTokens": 15, "outputTokens": 30, "cacheReadTokens": 45}


def test_a_cache_that_agrees_is_no_finding(home: Path) -> None:
    put(home, cache(2, **RIGHT))
    assert messages(home) == []


def test_a_cache_that_disagrees_is_a_finding(home: Path) -> None:
    path = put(home, cache(2, **{**RIGHT, "outputTokens": 31}))
    assert messages(home) == [f"DSH counts 31 output tokens ({path}), the log adds up to 30"]


@pytest.mark.parametrize("seq", [1, 3])
def test_a_cache_of_another_moment_says_nothing(home: Path, seq: int) -> None:
    put(home, cache(seq, outputTokens=99))
    assert messages(home) == []


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"record": {"rows": {}}}', "[" * 5000])
def test_a_file_of_another_shape_says_nothing(home: Path, content: str) -> None:
    put(home, content)
    assert messages(home) == []


def test_totals_that_are_no_whole_numbers_say_nothing(home: Path) -> None:
    content = cache(2, **RIGHT)
    content["record"]["rows"]["tokenUsage"]["val"]["totals"]["outputTokens"] = 3.5
    put(home, content)
    assert messages(home) == []


def test_a_log_outside_of_a_home_has_no_cache() -> None:
    assert cache_path("/backup/session.v4.jsonl") is None
    assert cache_path("/home/elsewhere/--work--/one/session.v4.jsonl") is None


def test_the_caches_of_the_corpus_are_what_its_verdicts_say() -> None:
    """The ground truth repeats DSH's own figures, as another reader found them."""
    truths = sorted((CORPUS / "sessions").glob("*/*/ground_truth.json"))
    if not truths:
        pytest.skip("the corpus is not there")
    compared = 0
    for path in truths:
        truth = json.loads(path.read_text("utf-8"))
        for session in filter(lambda one: one["current"], truth["sessions"]):
            log = path.parent.joinpath(
                "sessions", session["workspace_dir"], session["session_dir"], session["file"]
            )
            stated, found = session["dsh_projection"], list(read_projections([("id", str(log))]))
            assert len(found) == (stated is not None)
            for projection in found:
                compared += 1
                assert projection.seq == stated["through_seq"]
                assert msgspec.to_builtins(projection.totals) == stated["tokenUsage"]
    assert compared > 100
