"""Committed fixtures of every generation, each read by itself: the sums are those counted elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dsh_lake import read_session
from tests.corpus import CORPUS, THOROUGH, load

TRUTHS = sorted(
    file
    for file in (CORPUS / "snapshots-truth").glob("*.json")
    if THOROUGH or file.stem.startswith(("fork", "fresh", "recorded"))
)
"""Trees of every generation with ``DSH_LAKE_THOROUGH=1``; else those of the newest alone, which are small."""
USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_tokens",
    "cacheWriteTokens": "cache_write_tokens",
    "reasoningTokens": "reasoning_tokens",
    "totalTokens": "total_tokens",
}


@pytest.mark.parametrize("truth_file", TRUTHS, ids=lambda path: path.stem)
def test_the_files_of_a_tree_add_up(truth_file: Path) -> None:
    truth = load(truth_file)
    tree = CORPUS / truth["tree"]
    if not tree.is_dir():
        tree = CORPUS / "snapshots" / truth["tree"]
    totals: dict[str, int] = {}
    for name in truth["sessions"]:
        for key, count in _count(read_session(tree / name)).items():
            totals[key] = totals.get(key, 0) + count
    expected = dict(truth["totals"])
    # A header without a version is read as format 0.
    expected["sessions.v0"] = expected.pop("sessions.vNone", 0) + expected.get("sessions.v0", 0)
    assert {key: totals.get(key, 0) for key in expected} == expected


def _count(tables: dict[str, pa.Table]) -> dict[str, int]:
    source: dict[str, Any] = tables["sources"].to_pylist()[0]
    messages, events, usage = tables["messages"], tables["events"], tables["usage"]
    counts = {
        "sessions": 1,
        f"sessions.v{source['format_version']}": 1,
        "lines": source["lines"],
        "events": events.num_rows,
        "turns": pc.sum(pc.equal(events["type"], "turn/start")).as_py() or 0,
        "userMessages": pc.sum(pc.equal(messages["role"], "user")).as_py() or 0,
        "assistantMessages": pc.sum(pc.equal(messages["role"], "assistant")).as_py() or 0,
        "toolCalls": tables["tool_calls"].num_rows,
        "toolResults": tables["tool_results"].num_rows,
        "toolErrors": pc.sum(pc.not_equal(tables["tool_results"]["status"], "ok")).as_py() or 0,
    }
    own = usage.filter(pc.equal(usage["kind"], "message"))
    return counts | {f"usage.{theirs}": pc.sum(own[ours]).as_py() or 0 for theirs, ours in USAGE.items()}
