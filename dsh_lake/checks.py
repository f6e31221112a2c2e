"""Run the check queries of a lake: what each finds, and whether anything of severity fail was found.

The rule: a check is a query (``queries/checks``) that gives one row per finding and none when all is well;
what it means and how grave it is stands in its header.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from dsh_lake import sqlassets
from dsh_lake.connection import connect
from dsh_lake.views import fetch_rows

LEADING = ("subject_kind", "subject_id", "path", "position", "message")
"""The columns that every check begins with."""


def check(
    lake: str | os.PathLike[str] | None = None,
    *,
    as_of: str | None = None,
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Run checks over a lake.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.
        names: the checks to run; by default all.

    Returns:
        ``ok`` (nothing of severity fail), ``checks`` (each with ``name``, ``severity``, ``doc`` and how many
        ``findings`` it has) and ``findings``: ``check``, ``severity`` and the columns of ``LEADING``, by
        check, path and place.

    Raises:
        UnknownQuery: no check has that name.
        LakeError: there is no lake, or no such scan.
    """
    checks = [sqlassets.find(name, ["checks"]) for name in names] or list(sqlassets.load("checks").values())
    described: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    with connect(lake, as_of=as_of) as connection:
        for query in checks:
            rows = fetch_rows(
                connection, f"select {', '.join(LEADING)} from {query.name} order by path, position, message"
            )
            about = {"name": query.name, "severity": query.severity, "doc": query.doc}
            described.append({**about, "findings": len(rows)})
            findings += [{"check": query.name, "severity": query.severity, **row} for row in rows]
    is_ok = not any(finding["severity"] == "fail" for finding in findings)
    return {"ok": is_ok, "checks": described, "findings": findings}
