"""Cassettes made of past sessions: sound, the same every time, and nothing made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsh_lake.cassette import from_sessions, load, verify
from tests import logs


@pytest.fixture(scope="module")
def corpus(shared):
    return [shared / "corpus" / "sessions"]


def test_real_sub_agents_become_sound_cassettes(corpus, tmp_path):
    derived = from_sessions(corpus, tmp_path / "first")
    assert derived.cassettes
    assert verify(tmp_path / "first").exit_code == 0
    again = from_sessions(corpus, tmp_path / "second", storage="metadata")
    for path, other in zip(derived.cassettes, again.cassettes, strict=True):
        assert Path(path).read_bytes() == Path(other).read_bytes()
    for path in derived.cassettes:
        header = load(path).header
        assert header.provider_cassette == "dsh-lake"
        assert header.provider_upstream in ("archive:spawn", "archive:fork")
        assert not any(json.loads(header.capabilities).values())


def test_calls_of_calls_name_their_parents(corpus, tmp_path):
    derived = from_sessions(corpus, tmp_path)
    nested = 0
    for path in derived.cassettes:
        interactions = load(path, keep_records=False).interactions
        keys = {facts.call_key for facts in interactions}
        for facts in interactions:
            nested += facts.parent_key != "root"
            assert facts.parent_key == "root" or facts.parent_key in keys or "fork" not in path
    assert nested


def test_only_children_in_the_archive_are_counted(corpus, tmp_path):
    from dsh_lake.scan import scan

    summary = scan(corpus, lake=tmp_path / "lake")
    derived = from_sessions(corpus, tmp_path / "out")
    assert sum(derived.cassettes.values()) + len(derived.left_out) == summary["subagent_sessions"]


def child(home, name, *events, **header):
    about = {"origin": "subagent", "parentSession": "top", "delegationDepth": 1, **header}
    logs.log_path(home, name).write_bytes(logs.frame(logs.header(name, **about), *events))


def descriptor(**more):
    return logs.event(
        "subagent/descriptor", 0, {"version": 3, "mode": "one-shot", "provider": "spawn", **more}
    )


def turn_end(seq, kind):
    return logs.event("turn/end", seq, {"turn": 1, "reason": {"kind": kind}})


def turn(*, prompt=True, end="completed", answer=True):
    events = [descriptor(label="Count it", persona="counter")]
    events += [logs.event("turn/start", 1, {"turn": 1})]
    events += [logs.user(2, "told by the harness", "runtime-context")]
    events += [logs.user(3, "count with password=hunter22")] if prompt else []
    events += [logs.assistant(4, 1, 1, None)] if answer else []
    return events + ([turn_end(5, end)] if end else [])


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    logs.log_path(home, "top").write_bytes(logs.frame(logs.header("top")))
    return home


def test_what_the_archive_tells_stands_in_the_call(home, tmp_path):
    child(home, "one", *turn())
    ((path, calls),) = from_sessions(home, tmp_path / "out", storage="full").cassettes.items()
    (record,) = load(path).records
    assert (Path(path).name, calls) == ("top.spawn.cassette.jsonl", 1)
    text = "count with password=[REDACTED]"
    assert record["request"]["value"] == {
        "label": "Count it",
        "persona": "counter",
        "prompt": [{"type": "text", "text": text}],
    }
    assert record["request"]["redactions"] == 1
    assert record["outcome"]["result"] == {
        "output": [{"type": "text", "text": "hi"}],
        "stopReason": "completed",
    }
    assert (record["timing"]["startLatencyMs"], record["timing"]["durationMs"]) == (0, 50)
    assert record["callKey"].startswith("root/count-it-")


def test_a_failed_turn_is_a_result_without_output(home, tmp_path):
    child(home, "one", *turn(end="error", answer=False))
    (path,) = from_sessions(home, tmp_path / "out").cassettes
    (facts,) = load(path).interactions
    assert (facts.outcome_kind, facts.stop_reason) == ("result", "error")


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (turn(prompt=False), "it does not say what it was asked"),
        (turn(end=None), "its last turn did not end"),
        (turn(end="interrupted"), "it was interrupted: what its caller got is not known"),
        (turn()[1:], "it does not say which provider ran it"),
    ],
)
def test_what_is_not_known_is_left_out_and_told(events, reason, home, tmp_path):
    child(home, "one", *turn())
    child(home, "two", *events)
    derived = from_sessions(home, tmp_path / "out")
    assert [(one.session_id, one.reason) for one in derived.left_out] == [("two", reason)]
    assert list(derived.cassettes.values()) == [1]


def test_a_child_of_a_session_elsewhere_is_left_out(home, tmp_path):
    child(home, "one", *turn(), parentSession="elsewhere")
    (left_out,) = from_sessions(home, tmp_path / "out").left_out
    assert left_out.reason == "the session of its parent is not among these"
