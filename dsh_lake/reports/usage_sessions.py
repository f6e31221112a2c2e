"""The section of a page of usage that lists sessions, newest first."""

from __future__ import annotations

from dsh_lake.reports.document import UNKNOWN, Column, Section, Table
from dsh_lake.reports.references import show_command
from dsh_lake.reports.usage_facts import Row, UsageFacts
from dsh_lake.reports.wording import cost_heading, money, number, percent


def sessions_section(facts: UsageFacts, *, with_titles: bool) -> Section:
    """As many sessions as the page holds, with how to see the others."""
    total = facts.sessions[0]["all_sessions"]
    sentences = [
        "Newest first. What is counted is each session's own work within the period; sub-agents have rows "
        "of their own.",
        "The command at the end of a row, typed in a terminal, shows the first record of the session; with "
        "#L2, #L3 and so on in the place of #L1 the next ones. Add --lake FOLDER where the lake is not your "
        "default one.",
    ]
    if with_titles and facts.period["has_content"] is False:
        sentences.append("This lake keeps no titles.")
    left_out = total - len(facts.sessions)
    return Section(
        "Sessions",
        sentences,
        [
            Table(
                f"The newest {len(facts.sessions)} of {total:,} sessions" if left_out else "All sessions",
                [
                    Column("began"),
                    Column("kind"),
                    *([Column("title")] if with_titles else []),
                    Column("workspace"),
                    Column("model"),
                    Column("turns", is_number=True),
                    Column("tool calls", is_number=True),
                    Column("errors", is_number=True),
                    Column("tokens", is_number=True),
                    Column("cache-read share", is_number=True),
                    Column(cost_heading(facts.totals["currency"]), is_number=True),
                    Column("to look at it", is_code=True),
                ],
                [_row(row, with_titles) for row in facts.sessions],
                f"{left_out:,} more; all are listed by" if left_out else "",
                "dsh-lake sessions --limit 0" if left_out else "",
            )
        ],
    )


def _row(row: Row, with_titles: bool) -> list[str]:
    more = row["models"] - 1
    return [
        row["started_at"] or UNKNOWN,
        "sub-agent" if row["origin"] == "subagent" else "",
        *([row["title"] or UNKNOWN] if with_titles else []),
        _workspace(row["workspace"]),
        (row["model"] or UNKNOWN) + (f" and {more} more" if more > 0 else ""),
        number(row["turns"]),
        number(row["tool_calls"]),
        number(row["tool_errors"]),
        number(row["total_tokens"]),
        percent(row["cache_read_share"]),
        money(row["cost"], None, is_partial=(row["unpriced_calls"] or 0) > 0),
        show_command(row["session_id"], "L1"),
    ]


def _workspace(name: str | None) -> str:
    """The name of the folder without what all of them begin and end with, as in ``dsh-lake sessions``."""
    return (name.strip("-") or name) if name else UNKNOWN
