"""What a scan prints: the queries of the lake, asked about the files that the scan found on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dsh_lake.sources import DiscoveryFinding
from dsh_lake.views import Connection, fetch_rows

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


def summarise(
    connection: Connection,
    sources: Mapping[str, int],
    discovery_findings: Iterable[DiscoveryFinding],
) -> Summary:
    """The counts of everything that the connection shows.

    Args:
        connection: restricted to the files of the scan.
        sources: found, new, grown, rewritten, unchanged and missing files, as the scan counted them.
        discovery_findings: what was met on the way to the files.

    Returns:
        The members of interface.md's ``scan --format json`` from ``sources`` on. Counts are whole numbers,
        shares and rates are null where nothing was counted.
    """
    (totals,) = fetch_rows(connection, "from lake_summary")
    by_kind = {row["kind"]: row for row in fetch_rows(connection, "from usage_by_kind")}
    tools = fetch_rows(
        connection, f"select name, calls, errors from tool_health where calls > 0 limit {TOP_TOOLS}"
    )
    status = ("superseded", "duplicate", "skipped", "failed")
    return {
        "sources": {**sources, **{name: totals[f"{name}_sources"] for name in status}},
        **{name: totals[name] for name in _COUNTS_BEFORE_TOKENS},
        "tokens": {name: totals[f"{name}_tokens"] for name in _TOKENS},
        "tokens_by_kind": {
            kind: {name: by_kind.get(kind, {}).get(f"{name}_tokens") or 0 for name in _TOKENS}
            for kind in _KINDS
        },
        "cache_read_share": totals["cache_read_share"],
        "cassettes": 0,
        "interactions": 0,
        "top_tools": tools,
        "findings": _findings(connection, discovery_findings),
    }


def _findings(connection: Connection, discovery_findings: Iterable[DiscoveryFinding]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "severity": finding.severity,
            "code": finding.code,
            "path": finding.path,
            "position": None,
            "message": finding.message,
        }
        for finding in discovery_findings
    ]
    found += fetch_rows(connection, "select severity, code, path, position, message from findings")
    return sorted(found, key=_order)


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
