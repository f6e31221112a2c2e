"""The counts of real homes, as counted apart from this project when they were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsh_lake.scan import scan
from tests.corpus import CORPUS

HOMES = sorted((CORPUS / "sessions").glob("*/*/ground_truth.json"))
TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadTokens",
    "cache_write": "cacheWriteTokens",
    "reasoning": "reasoningTokens",
}


@pytest.mark.parametrize("truth_file", HOMES, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_the_summary_of_a_real_home_is_true(truth_file: Path, tmp_path: Path) -> None:
    truth = json.loads(truth_file.read_text())["totals_own"]
    found = scan(truth_file.parent, lake=tmp_path / "lake", jobs=1)
    assert _counts(found) == _expected(truth)
    assert found["tokens_by_kind"]["message"] | {"total": None} == _tokens(truth["tokens"]) | {"total": None}
    assert _bare(found["tokens_by_kind"]["compaction"]) == _bare(_tokens(truth["tokens_compaction"]))
    if not any(version in truth["versions"] for version in ("0", "1")):
        attempts = _tokens(truth["tokens_failed_attempts"])
        assert _bare(found["tokens_by_kind"]["attempt"]) == _bare(attempts)


def test_there_are_homes_to_compare_with(shared: Path) -> None:
    assert len(HOMES) >= 29


COUNTED = (
    "frames",
    "lines",
    "subagent_sessions",
    "user_messages",
    "human_messages",
    "assistant_messages",
    "tool_calls",
)


def _counts(found: dict[str, Any]) -> dict[str, Any]:
    # The truth counts repairs of interrupted sessions among the errors.
    errors = found["tool_errors"] + found["tool_interrupted"]
    return {"sessions": found["sessions"], "tool_errors": errors, **{name: found[name] for name in COUNTED}}


def _expected(truth: dict[str, Any]) -> dict[str, Any]:
    counts = {name: truth[name] for name in COUNTED}
    return {"sessions": truth["session_dirs"], "tool_errors": truth["tool_errors"], **counts}


def _tokens(stated: dict[str, int]) -> dict[str, int]:
    return {ours: stated.get(theirs, 0) for ours, theirs in TOKENS.items()}


def _bare(tokens: dict[str, int]) -> dict[str, int]:
    return {name: tokens[name] for name in TOKENS}
