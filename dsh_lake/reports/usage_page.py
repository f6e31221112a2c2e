"""What a page of usage says and in which order: rows become figures, tables, charts and the sentences around
them.

The rule: somebody who has never heard of the harness can read the page. What a figure means stands beside
it, a word that is not plain English is explained at the end, and what is missing from the figures is said at
the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence

from dsh_lake.quantities import counted
from dsh_lake.reports.document import Figure, Page, Section, Terms
from dsh_lake.reports.usage_facts import UsageFacts
from dsh_lake.reports.usage_health import health_section
from dsh_lake.reports.usage_sessions import sessions_section
from dsh_lake.reports.usage_spent import cache_section, spent_section
from dsh_lake.reports.usage_tools import tools_section
from dsh_lake.reports.usage_words import ABOUT, WORDS
from dsh_lake.reports.wording import money, number, percent

_INCOMPLETE = {
    "partial": "could be read only in part",
    "failed": "could not be read at all",
    "skipped": "was not read: empty, or written by a newer version",
}


def usage_page(facts: UsageFacts, *, with_titles: bool) -> Page:
    """The page; a period or lake without sessions gives one that says so."""
    health = health_section(facts)
    if not facts.sessions:
        return Page(
            "Agent usage", _facts(facts), _warnings(facts), sections=[_nothing(facts), health, _words()]
        )
    return Page(
        "Agent usage",
        _facts(facts),
        _warnings(facts),
        _figures(facts),
        [
            Section("About this page", [ABOUT]),
            spent_section(facts),
            *([cache_section(facts)] if facts.days else []),
            tools_section(facts),
            sessions_section(facts, with_titles=with_titles),
            health,
            _words(),
        ],
    )


def _facts(facts: UsageFacts) -> list[str]:
    period = facts.period
    lines = [
        _span(facts),
        f"Made on {period['made_at']} by dsh-lake from the lake {facts.lake}, "
        f"as it was after the scan {period['scan_id']}.",
    ]
    if period["scanned_at"] is not None:
        lines.append(f"Last scanned on {period['scanned_at']}: {', '.join(period['roots'] or ())}")
    return [*lines, f"Days and times are those of the time zone {period['time_zone']}."]


def _span(facts: UsageFacts) -> str:
    if facts.is_bounded:
        start = f"from {facts.since}" if facts.since else "from the beginning"
        end = f"up to, but without, {facts.until}" if facts.until else "to the end"
        return f"Period: {start} {end}; what has no time is left out."
    first, last = facts.totals["first_day"], facts.totals["last_day"]
    return f"Period: all that the lake holds{f', {first} to {last}' if first else ''}."


def _warnings(facts: UsageFacts) -> list[str]:
    totals = facts.totals
    warnings = [
        f"{counted(files, 'file')} {words}; what was in {'it' if files == 1 else 'them'} is not, or not "
        f"all, counted."
        for status, words in _INCOMPLETE.items()
        if (files := sum(row["files"] for row in facts.sources if row["status"] == status))
    ]
    if unpriced := totals["unpriced_calls"]:
        warnings.append(
            f"What {number(unpriced)} of {counted(totals['calls'], 'model call')} cost is not known "
            f"({number(totals['unpriced_tokens'])} tokens; no price, or no usage was reported): costs are at "
            "least what is shown."
        )
    if untimed := totals["calls_without_time"]:
        warnings.append(
            f"{counted(untimed, 'model call is', 'model calls are')} without a time: in the totals, but in "
            "no day of the charts."
        )
    return warnings


def _figures(facts: UsageFacts) -> Sequence[Figure]:
    totals, first = facts.totals, facts.sessions[0]
    calls = sum(row["calls"] for row in facts.tools)
    errors = sum(row["errors"] for row in facts.tools)
    return [
        Figure(
            "Sessions",
            number(first["all_sessions"]),
            f"{number(first['all_subagents'])} of them sub-agents, to which agents delegate work",
        ),
        Figure("Turns", number(first["all_turns"]), "requests that were worked on, from question to answer"),
        Figure(
            "Tokens",
            number(totals["total_tokens"]),
            f"in {counted(totals['calls'], 'model call')}, {number(totals['attempts'])} of them failed "
            f"attempts{_unreported(totals['unreported_replies'])}",
        ),
        Figure("Cost", *_cost(facts)),
        Figure(
            "Cache-read share",
            percent(totals["cache_read_share"]),
            "of all tokens sent to models came from the provider's cache, which is cheaper; higher is better",
        ),
        Figure(
            "Tool error rate",
            percent(errors / calls if calls else None),
            f"{number(errors)} of {counted(calls, 'tool call')} failed",
        ),
    ]


def _unreported(replies: int) -> str:
    return f"; of {counted(replies, 'more reply', 'more replies')} no usage was reported" if replies else ""


def _cost(facts: UsageFacts) -> tuple[str, str]:
    totals = facts.totals
    unpriced = totals["unpriced_calls"]
    amount = money(totals["cost"], totals["currency"], is_partial=unpriced > 0)
    if totals["cost"] is None:
        return amount, "no model call has a known price"
    if unpriced:
        return amount, f"without {counted(unpriced, 'call')} of unknown cost"
    return amount, "estimated from list prices; every call has one"


def _nothing(facts: UsageFacts) -> Section:
    if facts.is_bounded:
        return Section(
            "No sessions",
            ["In this period there was no session. Another one is chosen by --since and --until."],
        )
    return Section(
        "No sessions",
        [
            "There is no session in this lake: nothing was found where it was looked for, or nothing could "
            "be read.",
            "The command dsh-lake scan FOLDER reads the session archives of a folder into it.",
        ],
    )


def _words() -> Section:
    return Section("What the words mean", (), [Terms(WORDS)])
