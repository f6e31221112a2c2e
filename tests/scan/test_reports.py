"""Inputs behind public bug reports about other readers: each has its right answer."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from dsh_lake.connection import connect
from dsh_lake.engine import Connection, fetch_rows
from dsh_lake.scan import scan
from tests.corpus import CORPUS, load

CASES = sorted((CORPUS / "reports").glob("B*/expected.json"))
USAGE = ("input", "output", "cache_read", "cache_write", "reasoning", "total")
COUNTS = ("sessions", "frames", "lines", "events", "bad_frames", "user_messages", "human_messages")
COUNTS += ("assistant_messages", "tool_calls")
QUERIES = {
    "turns": "select count(*) from events where type = 'turn/start' and not is_inherited",
    "attempts": "select count(*) from events where type = 'assistant/attempt'",
    "retries_started": "select count(*) from events where type = 'llm/retry-started'",
    "tool_results": "select count(*) from tool_results where not is_inherited",
    "files_read": "select count(*) from sources where is_counted",
    "longest_user_text_chars": "select max(text_chars) from messages where role = 'user'",
    "user_text_chars": "select list(text_chars order by line) from messages where role = 'user'",
    "torn_tail": "select bool_or(torn_tail_bytes > 0) from sources",
}
SUMS = ", ".join(f"sum({'billed' if name == 'total' else name}_tokens)::bigint as {name}" for name in USAGE)


@pytest.mark.parametrize("case_file", CASES, ids=lambda path: path.parent.name)
def test_a_report_has_its_right_answer(case_file: Path, tmp_path: Path) -> None:
    case = load(case_file)
    steps = case["input"] if isinstance(case["input"], list) else [case["input"]]
    home, lake = tmp_path / "home", tmp_path / "lake"
    for number, step in enumerate(steps):
        shutil.copytree(case_file.parent / step, home, dirs_exist_ok=True)
        expected = case["expect"].get(Path(step).parts[0], case["expect"])
        fresh = tmp_path / f"fresh-{number}"
        for target in (lake, fresh):
            found = scan(home, lake=target, jobs=1)
            with connect(target) as connection:
                _check(expected, found, connection)


def _check(expected: dict[str, Any], found: dict[str, Any], connection: Connection) -> None:
    if "usage" in expected:
        # The harness's own fold; in these cases it is given without the compaction call.
        compaction = found["tokens_by_kind"]["compaction"]
        counted = {name: found["tokens"][name] - compaction[name] for name in USAGE}
        assert counted == expected["usage"]
    assert {name: found[name] for name in COUNTS if name in expected} == {
        name: expected[name] for name in COUNTS if name in expected
    }
    for name, query in QUERIES.items():
        if name in expected:
            assert connection.sql(query).fetchall()[0][0] == expected[name], name
    _check_usage_by(expected.get("per_session", {}), "session_id", "billed_usage", connection)
    _check_usage_by(expected.get("by_configured_model", {}), "model", "billed_usage", connection)
    served = "(select * replace (coalesce(served_model, model) as served_model) from billed_usage)"
    _check_usage_by(expected.get("by_served_model", {}), "served_model", served, connection)
    _check_days(expected.get("input_by_day", {}), connection)
    for report in expected.get("must_report", ()):
        assert [finding for finding in found["findings"] if report["session"] in finding["path"]]
    if "usage_of_messages_only" in expected:
        assert found["tokens_by_kind"]["message"]["output"] <= expected["usage"]["output"]


def _check_usage_by(
    expected: dict[str, dict[str, int]], column: str, relation: str, connection: Connection
) -> None:
    if expected:
        query = f"select {column}, {SUMS} from {relation} where kind <> 'compaction' group by {column}"
        rows = {row[column]: row for row in fetch_rows(connection, query)}
        assert {key: {name: rows[key][name] or 0 for name in USAGE} for key in expected} == expected


def _check_days(expected: dict[str, dict[str, int]], connection: Connection) -> None:
    for zone, days in expected.items():
        connection.execute(f"set variable time_zone = '{zone}'")
        rows = fetch_rows(connection, "from usage_by_day")
        assert {str(row["day"]): row["input_tokens"] for row in rows} == days


def test_there_are_reports_to_compare_with(shared: Path) -> None:
    assert len(CASES) >= 16
