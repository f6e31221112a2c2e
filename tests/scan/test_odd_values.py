"""Values that no rule expects: a row, a finding or an unset field, never an end of the scan."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dsh_lake import connect, read_session, scan, show
from tests import logs

HUGE = 2**63


def _home(tmp_path: Path, *lines: bytes, version: int = 4, **header: Any) -> Path:
    path = logs.log_path(tmp_path / "home", "s", version=version, suffix="")
    path.write_bytes(logs.header("s", version, **header) + b"".join(lines))
    return tmp_path / "home"


@pytest.mark.parametrize("turn", [HUGE, -HUGE - 1, 10**40, 1.5, "1"])
def test_a_turn_that_is_no_number_leaves_the_event(turn: Any, tmp_path: Path) -> None:
    home = _home(tmp_path, logs.event("turn/start", 0, {"turn": turn}), logs.user(1, "x"))
    found = scan(home, lake=tmp_path / "lake")
    assert (found["events"], found["human_messages"]) == (2, 1)


def test_header_numbers_of_any_size(tmp_path: Path) -> None:
    home = _home(tmp_path, logs.user(0, "x"), delegationDepth=HUGE, createdAt=10**30)
    assert scan(home, lake=tmp_path / "lake")["sessions"] == 1


@pytest.mark.parametrize("version", [5, 10**17, 10**30])
def test_a_newer_format_is_named_however_new(version: int, tmp_path: Path) -> None:
    path = tmp_path / "session.v5.jsonl"
    path.write_bytes(logs.line({"type": "session", "version": version, "id": "a"}))
    (finding,) = scan(path, lake=tmp_path / "lake")["findings"]
    assert finding["code"] == "unsupported-version"
    assert str(version) in finding["message"]


def test_a_file_name_may_state_any_generation(tmp_path: Path) -> None:
    path = logs.log_path(tmp_path / "home", "s").with_name("session.v18446744073709551617.jsonl")
    path.write_bytes(logs.header("s") + logs.user(0, "x"))
    found = scan(tmp_path / "home", lake=tmp_path / "lake")
    assert (found["sessions"], found["human_messages"]) == (1, 1)


@pytest.mark.parametrize(
    ("delay", "kept"), [(2**53 + 1, 2.0**53), (10**30, 1e30), (10**400, None), (1500, 1500.0), (0.5, 0.5)]
)
def test_a_wait_of_any_size_is_the_nearest_double(delay: float, kept: float | None, tmp_path: Path) -> None:
    data = {"retryId": "r", "turn": 1, "step": 1, "delayMs": delay}
    home = _home(tmp_path, logs.event("llm/retry", 0, data), logs.user(1, "x"))
    assert scan(home, lake=tmp_path / "lake")["human_messages"] == 1
    with connect(tmp_path / "lake") as connection:
        assert connection.sql("select delay_ms from event_facts").fetchall() == [(kept,)]


@pytest.mark.parametrize(
    "second",
    [logs.header("other"), logs.line({"type": "text-chunks", "seq0": 1, "time0": 1, "data": {}})],
    ids=["header", "packed row"],
)
def test_what_cannot_stand_beside_a_joined_record_is_a_reject(second: bytes, tmp_path: Path) -> None:
    path = logs.log_path(tmp_path / "home", "s")
    frames = [
        logs.frame(logs.header("s")),
        logs.frame(logs.user(0, "joined").removesuffix(b"\n")),
        logs.frame(second),
        logs.frame(logs.user(1, "after")),
    ]
    path.write_bytes(b"".join(frames))
    found = scan(tmp_path / "home", lake=tmp_path / "lake")
    assert (found["human_messages"], found["lines"], found["rejected_lines"]) == (2, 4, 1)
    with connect(tmp_path / "lake") as connection:
        places = connection.sql("select line, frame, byte_offset from rejects").fetchall()
    assert places == [(2, 3, len(frames[0]) + len(frames[1]))]


def _packed(**data: Any) -> bytes:
    whole = {"turn": 1, "step": 1, "index": 0, "texts": ["a", "b", "c"], **data}
    return logs.line({"type": "text-chunks", "seq0": 0, "time0": logs.START_MS, "data": whole})


@pytest.mark.parametrize("dt", [[1, 2**62], [1, "x", 3], [1.5, 0.5], [1], None, [1, True]])
def test_a_packed_row_whose_gaps_are_no_gaps_is_a_reject(dt: Any, tmp_path: Path) -> None:
    home = _home(tmp_path, _packed(dt=dt), version=0)
    found = scan(home, lake=tmp_path / "lake")
    assert [finding["code"] for finding in found["findings"]] == ["malformed-packed-row"]
    assert found["events"] == 0
    other = _home(tmp_path / "sound", _packed(dt=[1, 2]), version=0)
    assert scan(other, lake=tmp_path / "sound-lake")["events"] == 3


def test_a_negative_seq_is_inherited_from_nobody(tmp_path: Path) -> None:
    home = _home(tmp_path, logs.user(0, "x").replace(b'"seq":0', b'"seq":-3'))
    assert scan(home, lake=tmp_path / "lake")["human_messages"] == 1


def test_sums_beyond_any_count_are_still_true(tmp_path: Path) -> None:
    most = 2**53 - 1
    lines = []
    for seq in range(1100):
        record = json.loads(logs.assistant(seq, seq, 1, 1))
        record["data"]["usage"] = {"inputTokens": most, "outputTokens": most}
        lines.append(logs.line(record))
    found = scan(_home(tmp_path, *lines), lake=tmp_path / "lake")
    assert found["tokens"]["input"] == 1100 * most
    assert found["tokens"]["total"] == 2 * 1100 * most
    with connect(tmp_path / "lake") as connection:
        assert connection.sql("select input_tokens from usage_by_kind").fetchall() == [(None,)]


def test_ids_that_differ_in_lone_surrogates_are_two_sessions(tmp_path: Path) -> None:
    for name, escape in (("one", "\\ud800"), ("two", "\\ud801")):
        path = logs.log_path(tmp_path / "home", name, suffix="")
        path.write_bytes(logs.header("@").replace(b"@", escape.encode()) + logs.user(0, "x"))
    found = scan(tmp_path / "home", lake=tmp_path / "lake")
    assert (found["sessions"], found["sources"]["duplicate"]) == (2, 0)


@pytest.mark.skipif(os.sep == "\\", reason="needs a file system that allows such names")
def test_paths_that_look_alike_when_shown_are_two_files(tmp_path: Path) -> None:
    for session, folder in (("one", "a\nb"), ("two", "a\\x0ab")):
        (tmp_path / "home" / folder).mkdir(parents=True)
        path = tmp_path / "home" / folder / "session.v4.jsonl"
        path.write_bytes(logs.header(session) + logs.user(0, session) + b"nonsense\n")
    lake = tmp_path / "lake"
    for _ in range(2):
        found = scan(tmp_path / "home", lake=lake)
        assert found["sessions"] == 2
    assert found["sources"]["unchanged"] == 2
    for finding in found["findings"]:
        place = f"{finding['path']}#L3"
        assert show(place, lake=lake)["rejected"]["code"] == "malformed-json"
    assert show("one#L2", lake=lake)["record"]["data"]["content"][0]["text"] == "one"


def test_a_file_replaced_by_a_link_to_nowhere_is_missing(tmp_path: Path) -> None:
    home = _home(tmp_path, logs.user(0, "x"))
    lake = tmp_path / "lake"
    scan(home, lake=lake)
    (log,) = home.rglob("session.v4.jsonl")
    log.unlink()
    log.symlink_to("nowhere")
    found = scan(home, lake=lake)
    assert (found["sessions"], found["sources"]["missing"], found["remembered_sessions"]) == (0, 1, 1)


def test_a_home_may_be_named_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _home(tmp_path, logs.user(0, "x"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert scan("~/home", lake="~/lake")["sessions"] == 1
    (log,) = home.rglob("session.v4.jsonl")
    assert read_session(f"~/{log.relative_to(tmp_path)}")["events"].num_rows == 1
    assert (tmp_path / "lake" / "catalog.duckdb").is_file()
    assert not (tmp_path / "~").exists()


def test_a_text_file_that_is_no_log_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    (finding,) = scan(path, lake=tmp_path / "lake")["findings"]
    assert (finding["code"], finding["position"]) == ("no-header", "line 1")


def test_a_switch_to_a_lake_without_content_keeps_no_old_text(tmp_path: Path) -> None:
    home = _home(tmp_path, logs.user(0, "a secret that must go"))
    lake = tmp_path / "lake"
    scan(home, lake=lake)
    scan(home, lake=lake, content=False, full=True)
    kept = [path for path in lake.rglob("*.parquet") if path.parent.name == "events"]
    assert len(kept) == 1
    with connect(lake) as connection:
        assert connection.sql("select count(data) from events").fetchall() == [(0,)]
