"""All views that count tools count the same: as the scan's summary does, and as the corpus's verdicts say."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import dsh_lake
from corpus import TORTURE
from dsh_lake import sqlassets
from dsh_lake.records.session import KNOWN_TYPES
from scanned_homes import HOMES, Scanned, name_of, scanned_home

TRIED = [*HOMES, *([TORTURE] if TORTURE.is_dir() else [])]

PER_TOOL = ("tool_errors", "tool_health", "tool_result_sizes", "tool_context_carry", "shell_exits")
"""Views with a row for each tool and a column ``calls``; the last leaves out tools without exit codes."""


@pytest.fixture(scope="module", params=[None, *TRIED], ids=name_of)
def scanned(request: pytest.FixtureRequest) -> Scanned:
    """The demo home, every home of the corpus, and the torture files."""
    return scanned_home(request.param)


def test_calls_are_the_same_in_all_views(scanned: Scanned) -> None:
    calls = scanned.counts(
        "select name, count(*) from tool_calls where not is_inherited and not is_recovered group by 1"
    )
    for view in PER_TOOL[:-1]:
        assert scanned.counts(f"select name, calls from {view}") == calls, view
    assert scanned.counts(f"select name, calls from {PER_TOOL[-1]}") <= calls
    assert scanned.counts("select name, count(*) from call_context_carry group by 1") == calls
    assert calls.total() == scanned.summary["tool_calls"]
    listed = {tool["name"]: tool["calls"] for tool in scanned.summary["top_tools"]}
    assert listed.items() <= calls.items()


def test_the_result_that_counts_for_a_call_is_its_own(scanned: Scanned) -> None:
    strangers = scanned.rows(
        "select c.session_id, c.line from tool_calls as c "
        "left join tool_results as r on r.source_id = c.source_id "
        "and r.line = c.result_line and r.seq = c.result_seq where c.result_line is not null and "
        "(r.call_id is distinct from c.call_id or r.status <> c.status or r.is_replacement or r.is_recovered)"
    )
    assert strangers == []


def test_failures_are_the_same_in_all_views(scanned: Scanned) -> None:
    errors = scanned.counts("select name, errors from tool_errors")
    assert scanned.counts("select name, errors from tool_health") == errors
    assert scanned.counts("select name, sum(errors)::bigint from tool_errors_by_code group by 1") == errors
    assert scanned.counts("select name, failures from tool_retries") <= errors
    assert errors.total() == scanned.summary["tool_errors"]
    ((interrupted,),) = scanned.rows("select coalesce(sum(interrupted), 0)::bigint from tool_health")
    assert interrupted == scanned.summary["tool_interrupted"]
    shares = scanned.rows("select sum(share) from tool_errors_by_code group by name")
    assert all(share == pytest.approx(1) for (share,) in shares)


def test_calls_without_results_are_the_same_in_all_views(scanned: Scanned) -> None:
    ((unanswered,),) = scanned.rows("select coalesce(sum(unanswered), 0)::bigint from tool_health")
    for view in ("calls_without_results", "longest_unanswered"):
        assert scanned.rows(f"select count(*) from {view}") == [(unanswered,)]
    ((answered,),) = scanned.rows("select coalesce(sum(results), 0)::bigint from tool_result_sizes")
    assert answered + unanswered == scanned.summary["tool_calls"]
    assert scanned.rows("select coalesce(sum(results), 0)::bigint from tool_context_carry") == [(answered,)]


def test_exits_are_the_same_by_code(scanned: Scanned) -> None:
    exits = scanned.counts("select name, nonzero from shell_exits")
    assert scanned.counts("select name, sum(commands)::bigint from shell_exits_by_code group by 1") == exits


def test_what_is_unhealthy_is_what_the_summary_counts(scanned: Scanned) -> None:
    summary = scanned.summary
    assert scanned.rows("select count(*) from torn_tails") == [(summary["torn_tails"],)]
    unknown = scanned.counts("select type, events from unknown_event_types")
    told = {
        finding["message"].split("'")[1]
        for finding in summary["findings"]
        if finding["code"] == "unknown-event"
    }
    assert told <= unknown.keys()
    files = scanned.counts(
        "select status, sum(files)::bigint from source_health where kind = 'session' group by 1"
    )
    assert files.total() == summary["sources"]["found"]
    for status in ("superseded", "duplicate", "skipped", "failed"):
        assert files[status] == summary["sources"][status]


def test_interval_and_rate_agree(scanned: Scanned) -> None:
    for low, rate, high in scanned.rows(
        "select error_rate_low, error_rate, error_rate_high from tool_health where error_rate_low is not null"
    ):
        assert 0 <= low <= rate <= high <= 1
        assert low < high


def test_no_check_fails(scanned: Scanned) -> None:
    """What is in these homes, runtimes have left there, or it is told by findings of its own."""
    lake = Path(scanned.summary["lake"])
    assert [one for one in dsh_lake.check(lake)["findings"] if one["severity"] == "fail"] == []


def test_counts_are_those_of_the_verdicts(scanned: Scanned) -> None:
    path = scanned.home / "ground_truth.json"
    if not path.is_file():
        pytest.skip("no verdicts stand beside this home")
    truth = json.loads(path.read_text("utf-8"))
    by_name: Counter[str] = Counter()
    for session in truth["sessions"]:
        if session["current"]:
            by_name.update(session["own"]["tool_calls_by_name"])
    assert scanned.counts("select name, calls from tool_health") == by_name
    own = truth["totals_own"]
    ((failed,),) = scanned.rows("select coalesce(sum(errors + interrupted), 0)::bigint from tool_health")
    assert failed == own["tool_errors"]
    without = scanned.rows("select count(*) from calls_without_results")
    assert without == [(own["calls_without_result"],)]


def test_the_types_that_are_known_are_those_of_the_reader() -> None:
    """The view repeats them, since SQL cannot ask the reader."""
    text = sqlassets.find("unknown_event_types", ["views"]).text
    assert set(re.findall(r"'([^']+)'", text.partition("not in (")[2])) == KNOWN_TYPES
