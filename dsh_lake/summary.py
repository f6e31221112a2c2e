"""What a scan prints: the queries of the lake, asked about the files that the scan found on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dsh_lake.sources import DiscoveryFinding
from dsh_lake.views import ComposedViews

Summary = dict[str, Any]
"""The object of ``scan --format json``: see :func:`summarise`."""

_TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning", "total")
_KINDS = ("message", "attempt", "compaction")
_COUNTS_BEFORE_TOKENS = [
    "compressed_bytes",
    "decoded_bytes",
    "frames",
    "bad_frames",
    "torn_tails",
    "lines",
    "recovered_lines",
    "rejected_lines",
    "sessions",
    "subagent_sessions",
    "events",
    "user_messages",
    "human_messages",
    "assistant_messages",
    "tool_calls",
    "tool_errors",
    "tool_interrupted",
    "tool_error_rate",
]
_SEVERITIES = {"fail": 0, "warn": 1, "info": 2}
TOP_TOOLS = 10
MOST_FINDINGS = 100_000
"""Findings that are told one by one. A damaged file of a few megabytes can have as many millions."""


def summarise(views: ComposedViews) -> Summary:
    """The counts of everything that the views show.

    Args:
        views: restricted to the files of the scan.

    Returns:
        The members of interface.md's ``scan --format json`` from ``sources`` on, but for how files have
        changed. Counts are whole numbers, shares and rates are null where nothing was counted.
    """
    (totals,) = views.fetch("lake_summary")
    by_kind = {row["kind"]: row for row in totals["tokens_by_kind"] or ()}
    status = ("superseded", "duplicate", "skipped", "failed")
    return {
        "sources": {name: totals[f"{name}_sources"] for name in status},
        **{name: totals[name] for name in _COUNTS_BEFORE_TOKENS},
        "tokens": {name: totals[f"{name}_tokens"] for name in _TOKENS},
        "tokens_by_kind": {
            kind: {name: by_kind.get(kind, {}).get(name) or 0 for name in _TOKENS} for kind in _KINDS
        },
        "cache_read_share": totals["cache_read_share"],
        "cassettes": totals["cassettes"],
        "interactions": totals["interactions"],
        "top_tools": (totals["tools"] or [])[:TOP_TOOLS],
        "findings": _findings(views),
    }


def _findings(views: ComposedViews) -> list[dict[str, Any]]:
    """Each finding; where there are too many, one for all of a code in a file: the first, and how many."""
    found = views.fetch("findings", "severity, code, path, position, message", f"limit {MOST_FINDINGS + 1}")
    if len(found) <= MOST_FINDINGS:
        return found
    first = "arg_min({}, coalesce(try_cast(split_part(position, ' ', 2) as bigint), 0))"
    columns = f"severity, code, path, {first.format('position')} as position, count(*) as times"
    found = views.fetch("findings", f"{columns}, {first.format('message')} as message", "group by all")
    for finding in found:
        times = finding.pop("times")
        if times > 1:
            finding["message"] += f" ({times:,} such findings; each of them: dsh-lake sql 'from findings')"
    return found


def with_discovery(
    summary: Summary, changes: Mapping[str, int], findings: Iterable[DiscoveryFinding]
) -> Summary:
    """A summary together with what the scan met on the way to the files: how they have changed, and
    findings about folders. All findings are sorted: gravest first, then by place."""
    met = [
        {
            "severity": finding.severity,
            "code": finding.code,
            "path": finding.path,
            "position": None,
            "message": finding.message,
        }
        for finding in findings
    ]
    return {
        **summary,
        "sources": {**changes, **summary["sources"]},
        "findings": sorted([*summary["findings"], *met], key=_order),
    }


def _order(finding: Mapping[str, Any]) -> tuple[Any, ...]:
    position = finding["position"] or ""
    word, _, number = position.partition(" ")
    at = int(number) if number.isdigit() else 0
    return (
        _SEVERITIES[finding["severity"]],
        finding["path"] or "",
        word,
        at,
        finding["code"],
        finding["message"],
    )
