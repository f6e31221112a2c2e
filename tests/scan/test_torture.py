"""Hostile and odd files: what is read of them, what is refused, and why, as the corpus says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_lake.engine import connect_catalog, fetch_rows
from dsh_lake.scan import scan
from tests import logs
from tests.corpus import TORTURE, torture_cases

CASES = torture_cases()
STATUS = {
    "ok": "ok",
    "partial": "partial",
    "unsupported": "skipped",
    "unreadable": "failed",
    "empty": "skipped",
}
REASONS = {"invalid-json": "malformed-json"}
TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadTokens",
}


@pytest.mark.parametrize("name", CASES)
def test_a_torture_file_is_read_as_the_corpus_says(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    lake = tmp_path / "lake"
    found = scan(TORTURE / case["file"], lake=lake, jobs=1)
    with connect_catalog(lake / "catalog.duckdb") as connection:
        (source,) = fetch_rows(connection, "from sources")
        rejects = fetch_rows(connection, "from rejects where line is not null order by line")
        events = fetch_rows(connection, "select * exclude (data) from events where not is_recovered")
    assert {
        "frames": source["frames"],
        "skippable": source["skippable_frames"],
        "bad_frames": source["bad_frames"],
        "tail_bytes": source["torn_tail_bytes"],
        "tail_lines": source["recovered_lines"],
        "lines": source["lines"],
        "header_version": source["format_version"],
    } == {
        "frames": case["frames"],
        "skippable": case["skippable"],
        "bad_frames": case["bad_frames"],
        "tail_bytes": case["tail_bytes"],
        "tail_lines": case["tail_lines"],
        "lines": case["lines"],
        "header_version": case["header_version"],
    }
    assert source["status"] == STATUS[case["verdict"]]
    assert [(row["line"], row["code"]) for row in rejects] == [
        (row["line"], REASONS.get(row["reason"], row["reason"])) for row in case["rejected"]
    ]
    if source["status"] in ("ok", "partial"):
        assert len({row["line"] for row in events}) + 1 + len(rejects) >= case["lines"] - _glued(case)
    _check_particulars(case, found, source, events)
    _check_bytes(source)


def _glued(case: dict[str, Any]) -> int:
    """Lines that the corpus counts apart although one line end ends them both."""
    return 1 if "newline" in case.get("warning", "") else 0


def _check_particulars(
    case: dict[str, Any], found: dict[str, Any], source: dict[str, Any], events: list[dict[str, Any]]
) -> None:
    assert len(events) == case.get("events", len(events))
    tokens = case.get("own_tokens", case.get("tokens"))
    if tokens:
        assert {
            theirs: found["tokens"][ours] for ours, theirs in TOKENS.items() if theirs in tokens
        } == tokens
    for name in ("tool_calls", "tool_errors"):
        assert found[name] == case.get(name, found[name])
    for seq, time_ms in case.get("times", {}).items():
        (event,) = [event for event in events if event["seq"] == int(seq)]
        assert event["at"].timestamp() * 1000 == time_ms
    inherited = sum(event["is_inherited"] for event in events)
    assert inherited == case.get("inherited_events", inherited)
    if "warning" in case:
        assert [finding for finding in found["findings"] if finding["severity"] != "info"]


def _check_bytes(source: dict[str, Any]) -> None:
    """Every byte of the file is in exactly one account."""
    accounts = ("good_frame_bytes", "bad_frame_bytes", "skippable_bytes", "unframed_bytes", "torn_tail_bytes")
    assert sum(source[name] for name in accounts) == source["size_bytes"]


def test_the_torture_home_as_a_whole_is_read(shared: Path, tmp_path: Path) -> None:
    found = scan(shared / "corpus" / "torture", lake=tmp_path / "lake", jobs=1)
    assert found["sources"]["found"] == len(CASES) + 2  # the two older generations of one case
    assert found["sources"]["superseded"] == 2
    assert sum(case["frames"] for case in CASES.values()) == found["frames"]
    assert sum(case["lines"] for case in CASES.values()) == found["lines"]


def test_a_frame_that_gives_more_than_it_may_is_a_finding(tmp_path: Path) -> None:
    path = logs.log_path(tmp_path / "home", "s")
    frames = [
        logs.frame(logs.header("s")),
        logs.frame(logs.user(0, "x" * 100_000)),
        logs.frame(logs.user(1, "y")),
    ]
    path.write_bytes(b"".join(frames))
    found = scan(tmp_path / "home", lake=tmp_path / "lake", frame_bytes=50_000)
    assert [finding["code"] for finding in found["findings"]] == ["frame-too-large", "seq-gap"]
    assert (found["bad_frames"], found["events"]) == (1, 1)
    assert scan(tmp_path / "home", lake=tmp_path / "other")["events"] == 2
