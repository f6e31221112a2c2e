"""``dsh-lake report usage``: what agents used, cost and did, as one page to look at."""

from __future__ import annotations

import os
from datetime import date
from typing import IO, Any

from dsh_lake.connection import connect
from dsh_lake.engine import set_variable
from dsh_lake.errors import UsageError
from dsh_lake.export import opened_privately
from dsh_lake.lake import Lake, default_lake
from dsh_lake.reports.html import html
from dsh_lake.reports.markdown import markdown
from dsh_lake.reports.usage_facts import usage_facts
from dsh_lake.reports.usage_page import usage_page
from dsh_lake.time_zones import check_zone

_WRITERS = {"html": html, "markdown": markdown}
_SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


def report_usage(
    output: str | os.PathLike[str] | IO[bytes],
    *,
    lake: str | os.PathLike[str] | None = None,
    format: str | None = None,
    as_of: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    titles: bool = False,
    time_zone: str | None = None,
) -> dict[str, Any]:
    """Write a page about usage: tokens and cost by day, cache, models, tools, sessions, what could not be
    read.

    The page is one file that needs no network. No prompt, argument or result is on it, and titles only where
    asked for; names of workspaces, tools and models, ids of sessions and paths of files are. Figures are
    those of the views (``usage_by_day``, ``tool_health``, ``session_summary``, ...), restricted to a period.

    Args:
        output: a file, replaced if it exists and readable by its owner alone; or an open binary file, which
            needs ``format``.
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        format: ``html``, which needs the extra ``report``, or ``markdown``, which needs nothing and has
            tables in the place of charts; by default what the name of the file says.
        as_of: ``scan_id`` of an earlier scan.
        since: first day of the period, as a date or YYYY-MM-DD.
        until: first day after the period.
        titles: show the titles of sessions, which hold words of prompts.
        time_zone: where days begin, such as ``Asia/Shanghai``; by default the zone of the machine.

    Returns:
        ``output`` (None for an open file), ``format``, ``bytes``, ``scan_id``, ``sessions`` (of the period),
        ``sessions_shown`` and ``is_partial`` (whether the page says that something is missing from it).

    Raises:
        MissingExtra: HTML is asked for without the extra ``report``.
        UsageError: format, period or time zone make no sense, or the output lies in the lake.
        LakeError: there is no lake, or no such scan.
        BadPrices: the lake's ``prices.csv`` cannot be used.
        OSError: the output cannot be written.
    """
    chosen = _format(format, output)
    first, end = _day(since, "since"), _day(until, "until")
    if first is not None and end is not None and first >= end:
        raise UsageError(f"the period from {first} up to {end} has no days")
    if time_zone is not None:
        check_zone(time_zone)
    source = Lake(lake if lake is not None else default_lake())
    with connect(source.path, as_of=as_of) as connection:
        set_variable(connection, "time_zone", time_zone)
        facts = usage_facts(connection, str(source.path), first, end)
    page = usage_page(facts, with_titles=titles)
    text = _WRITERS[chosen](page).encode("utf-8")
    with opened_privately(output, source) as sink:
        sink.write(text)
    return {
        "output": os.fspath(output) if isinstance(output, str | os.PathLike) else None,
        "format": chosen,
        "bytes": len(text),
        "scan_id": facts.period["scan_id"],
        "sessions": facts.sessions[0]["all_sessions"] if facts.sessions else 0,
        "sessions_shown": len(facts.sessions),
        "is_partial": bool(page.warnings),
    }


def _format(chosen: str | None, output: str | os.PathLike[str] | IO[bytes]) -> str:
    if chosen is None and isinstance(output, str | os.PathLike):
        chosen = _SUFFIXES.get(os.path.splitext(os.fspath(output))[1].lower())
        if chosen is None:
            raise UsageError(f"{os.fspath(output)}: the name says no format; choose html or markdown")
    if chosen not in _WRITERS:
        raise UsageError(f"the format is {chosen!r}, not html or markdown")
    return chosen


def _day(given: date | str | None, name: str) -> date | None:
    if given is None or isinstance(given, date):
        return given
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise UsageError(f"{name}: {given!r} is no day; write it as 2026-11-30") from None
