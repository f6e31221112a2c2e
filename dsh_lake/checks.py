"""Run the check queries of a lake: what each finds, and whether anything of severity fail was found.

The rule: a check is a query (``queries/checks``) that gives one row per finding and none when all is well;
what it means and how grave it is stands in its header.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from dsh_lake import sqlassets
from dsh_lake.connection import connect
from dsh_lake.engine import fetch_rows, run, set_variable
from dsh_lake.projections import read_projections

if TYPE_CHECKING:
    import pyarrow as pa

    from dsh_lake.engine import Connection

LEADING = ("subject_kind", "subject_id", "path", "position", "message")
"""The columns that every check begins with."""

_LINE = "line "


def check(
    lake: str | os.PathLike[str] | None = None,
    *,
    as_of: str | None = None,
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Run checks over a lake.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.
        only: the checks to run; by default all.

    Returns:
        ``ok`` (nothing of severity fail), ``checks`` (each with ``name``, ``severity``, ``doc`` and how many
        ``findings`` it has) and ``findings``: ``check``, ``severity``, the columns of ``LEADING`` and
        ``line`` (the line of the file that is meant, null where none is), by check, path and place.

    Raises:
        UnknownQuery: no check has that name.
        LakeError: there is no lake, or no such scan.
    """
    checks = [sqlassets.find(name, ["checks"]) for name in dict.fromkeys(only)]
    described: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    with connect(lake, as_of=as_of) as connection:
        for query in checks or sqlassets.load("checks").values():
            found = _run(connection, query)
            about = {"name": query.name, "severity": query.severity, "doc": query.doc}
            described.append({**about, "findings": len(found)})
            findings += found
    is_ok = not any(finding["severity"] == "fail" for finding in findings)
    return {"ok": is_ok, "checks": described, "findings": findings}


def finding_rows(result: Mapping[str, Any]) -> pa.RecordBatchReader:
    """The findings of :func:`check` as rows in its order: all texts, but ``line`` a whole number."""
    import pyarrow as pa

    names = ("check", "severity", *LEADING)
    schema = pa.schema([*((name, pa.large_string()) for name in names), ("line", pa.int64())])
    return pa.Table.from_pylist(result["findings"], schema=schema).to_reader()


def _run(connection: Connection, query: sqlassets.Query) -> list[dict[str, Any]]:
    if "projections" in query.params:
        _tell_projections(connection)
    rows = fetch_rows(connection, f"from {query.name} order by path, length(position), position, message")
    about = {"check": query.name, "severity": query.severity}
    return [{**about, **{name: row[name] for name in LEADING}, "line": _line(row)} for row in rows]


def _line(row: dict[str, Any]) -> int | None:
    """The line of the file; cassettes name records by numbers that leave out blank lines, and both."""
    if "physical_line" in row:
        number: int | None = row["physical_line"]
        return number
    position = row["position"] or ""
    return int(position.removeprefix(_LINE)) if position.startswith(_LINE) else None


def _tell_projections(connection: Connection) -> None:
    """Give the connection what DSH says of the sessions that count, for the check that compares."""
    logs = run(connection, "select source_id, path from sources where is_counted and kind = 'session'")
    projections = msgspec.json.encode(list(read_projections(logs.fetchall()))).decode()
    set_variable(connection, "projections", projections)
