"""The section of a page of usage on tools: which fail, and which take long."""

from __future__ import annotations

from dsh_lake.reports.document import Column, Section, Table
from dsh_lake.reports.references import show_command
from dsh_lake.reports.usage_facts import Row, UsageFacts
from dsh_lake.reports.wording import duration, interval, number, percent

_TOOLS_SHOWN = 40
_SLOWEST_SHOWN = 10


def tools_section(facts: UsageFacts) -> Section:
    """Both tables; of a period without tools a sentence."""
    if not facts.tools:
        return Section("Tools", ["No tool was called."])
    sentences = [
        "Models act through tools. An error is a failure that the tool reported; with few calls the rate "
        "says little, so the range in which the true rate lies (with 95 % confidence) stands beside it.",
    ]
    return Section("Tools", sentences, [_health_table(facts), *_slowest_tables(facts)])


def _health_table(facts: UsageFacts) -> Table:
    shown = facts.tools[:_TOOLS_SHOWN]
    left_out = len(facts.tools) - len(shown)
    return Table(
        "How calls ended",
        [
            Column("tool"),
            Column("calls", is_number=True),
            Column("errors", is_number=True),
            Column("error rate", is_number=True),
            Column("likely range", is_number=True),
            Column("interrupted", is_number=True),
            Column("unanswered", is_number=True),
        ],
        [
            [
                _name(row),
                number(row["calls"]),
                number(row["errors"]),
                percent(row["error_rate"]),
                interval(row["error_rate_low"], row["error_rate_high"]),
                number(row["interrupted"]),
                number(row["unanswered"]),
            ]
            for row in shown
        ],
        f"The {len(shown)} tools called most; {left_out} more are shown by" if left_out else "",
        "dsh-lake sql 'from tool_health'" if left_out else "",
    )


def _slowest_tables(facts: UsageFacts) -> list[Table]:
    timed = [row for row in facts.tools if row["duration_ms_p90"] is not None]
    slowest = sorted(timed, key=lambda row: (-row["duration_ms_p90"], row["name"] or ""))[:_SLOWEST_SHOWN]
    if not slowest:
        return []
    return [
        Table(
            "Slowest tools",
            [
                Column("tool"),
                Column("half took at most", is_number=True),
                Column("9 of 10", is_number=True),
                Column("99 of 100", is_number=True),
                Column("all calls together", is_number=True),
                Column("longest call", is_number=True),
                Column("to look at it", is_code=True),
            ],
            [
                [
                    _name(row),
                    *(duration(row[f"duration_ms_p{rank}"]) for rank in (50, 90, 99)),
                    duration(row["total_ms"]),
                    duration(row["longest_ms"]),
                    show_command(row["longest_session_id"], f"seq={row['longest_seq']}"),
                ]
                for row in slowest
            ],
            "From call to result, waiting for somebody's approval included."
            + (f" The {len(slowest)} slowest of {len(timed)}." if len(timed) > len(slowest) else ""),
        )
    ]


def _name(row: Row) -> str:
    return row["name"] or "(call not recorded)"
