"""The sections of a page of usage on tokens and cost, and on the cache."""

from __future__ import annotations

from functools import partial

from dsh_lake.reports.charts import share_by_day, stacked_by_day
from dsh_lake.reports.document import UNKNOWN, Chart, Column, Section, Table
from dsh_lake.reports.usage_facts import Row, UsageFacts
from dsh_lake.reports.wording import cost_heading, money, number, percent

_BUCKETS = {"input": "input", "cache read": "cache_read", "cache write": "cache_write", "output": "output"}
_DAYS_SHOWN = 100
_MODELS_SHOWN = 30


def spent_section(facts: UsageFacts) -> Section:
    """Tokens and cost: charts by day, the same as a table, and by model."""
    if not facts.totals["calls"]:
        return Section("Tokens and cost", ["No model call reported what it used."])
    per = "month" if facts.is_by_month else "day"
    charts = [
        Chart(
            "tokens",
            f"Tokens per {per}",
            partial(
                stacked_by_day,
                facts.days,
                {name: f"{bucket}_tokens" for name, bucket in _BUCKETS.items()},
                by_month=facts.is_by_month,
                measure="tokens",
            ),
            list(_BUCKETS),
        )
    ]
    currency = facts.totals["currency"]
    if currency is not None:
        charts.append(
            Chart(
                "cost",
                f"Cost per {per} ({currency})",
                partial(
                    stacked_by_day,
                    facts.days,
                    {name: f"{bucket}_cost" for name, bucket in _BUCKETS.items()},
                    by_month=facts.is_by_month,
                    measure=currency,
                ),
                list(_BUCKETS),
            )
        )
    sentences = [
        "Models are billed by the token, at different prices for what is new to them (input), what they "
        "find in their cache (cache read), what is put there (cache write) and what they write (output).",
    ]
    by_time: list[Chart | Table] = [*charts, _day_table(facts)] if facts.days else []
    return Section("Tokens and cost", sentences, [*by_time, _model_table(facts)])


def _day_table(facts: UsageFacts) -> Table:
    per, shown = ("month", facts.days) if facts.is_by_month else ("day", facts.days[-_DAYS_SHOWN:])
    left_out = len(facts.days) - len(shown)
    return Table(
        f"The same numbers by {per}",
        [
            Column(per),
            Column("model calls", is_number=True),
            *(Column(name, is_number=True) for name in _BUCKETS),
            Column(cost_heading(facts.totals["currency"]), is_number=True),
            Column("cache-read share", is_number=True),
        ],
        [_day_row(row, facts.is_by_month) for row in reversed(shown)],
        f"The newest {len(shown)} days; all {len(facts.days)} are shown by" if left_out else "",
        "dsh-lake sql 'from usage_by_day'" if left_out else "",
        is_folded=True,
    )


def _day_row(row: Row, is_by_month: bool) -> list[str]:
    return [
        row["day"].rpartition("-")[0] if is_by_month else row["day"],
        number(row["calls"]),
        *(number(row[f"{bucket}_tokens"]) for bucket in _BUCKETS.values()),
        _cost(row),
        percent(row["cache_read_share"]),
    ]


def _model_table(facts: UsageFacts) -> Table:
    shown = facts.models[:_MODELS_SHOWN]
    left_out = len(facts.models) - len(shown)
    is_unpriced = any(row["unpriced_calls"] for row in shown)
    return Table(
        "By model",
        [
            Column("model"),
            Column("provider"),
            Column("model calls", is_number=True),
            Column("tokens", is_number=True),
            Column("cache-read share", is_number=True),
            Column(cost_heading(facts.totals["currency"]), is_number=True),
            *([Column("calls without a price", is_number=True), Column("why")] if is_unpriced else []),
        ],
        [
            [
                row["model"] or "(not named)",
                row["provider"] or UNKNOWN,
                number(row["calls"]),
                number(row["total_tokens"]),
                percent(row["cache_read_share"]),
                _cost(row),
                *([number(row["unpriced_calls"]), row["reasons"] or ""] if is_unpriced else []),
            ]
            for row in shown
        ],
        f"Those that used most; {left_out} more are shown by" if left_out else "",
        "dsh-lake sql 'from usage_by_model'" if left_out else "",
    )


def _cost(row: Row) -> str:
    return money(row["cost"], None, is_partial=row["unpriced_calls"] > 0)


def cache_section(facts: UsageFacts) -> Section:
    """How much of what was sent to models came from their cache, over time."""
    per = "month" if facts.is_by_month else "day"
    return Section(
        "Cache",
        [
            "With every call a model is sent the whole conversation again. What it has seen before it reads "
            "from a cache, many times cheaper. A share that falls means that conversations began anew, were "
            "changed near their beginning, or lay idle until the cache was gone.",
        ],
        [
            Chart(
                "cache",
                f"Cache-read share per {per} (of all tokens sent to models)",
                partial(
                    share_by_day,
                    facts.days,
                    "cache_read_share",
                    by_month=facts.is_by_month,
                    measure="cache-read share",
                ),
            )
        ],
    )
