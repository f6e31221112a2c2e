"""What a page of usage says, as rows: the queries of ``queries/reports`` over one lake and one period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from dsh_lake import sqlassets
from dsh_lake.engine import Connection, fetch_rows

Row = dict[str, Any]
LONGEST_BY_DAY = 370
"""Days that charts show one by one; longer periods are shown by month."""
SESSIONS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """Rows as ``queries/reports`` and the views of the same names describe them."""

    lake: str
    period: Row
    since: date | None
    until: date | None
    totals: Row
    days: Sequence[Row]
    is_by_month: bool
    models: Sequence[Row]
    tools: Sequence[Row]
    sessions: Sequence[Row]
    sources: Sequence[Row]
    rejects: Sequence[Row]
    findings: Sequence[Row]

    @property
    def is_bounded(self) -> bool:
        """Whether only a period was asked for."""
        return self.period["from_at"] is not None


def usage_facts(connection: Connection, lake: str, since: date | None, until: date | None) -> UsageFacts:
    """Ask everything that the page says.

    Args:
        connection: to the lake, at the scan that is meant.
        lake: where the lake is, to be named on the page.
        since, until: the first day, and the first day after the last one; files and findings are those of the
            whole lake in any case.
    """
    (period,) = _ask(connection, "period", since=since, until=until)
    bounds = {"from_at": period["from_at"], "to_at": period["to_at"]}
    (totals,) = _ask(connection, "totals", **bounds)
    is_by_month = (totals["days_apart"] or 0) > LONGEST_BY_DAY
    return UsageFacts(
        lake=lake,
        period=period,
        since=since,
        until=until,
        totals=totals,
        days=_ask(connection, "days", unit="month" if is_by_month else "day", **bounds),
        is_by_month=is_by_month,
        models=_ask(connection, "models", **bounds),
        tools=_ask(connection, "tools", **bounds),
        sessions=_ask(connection, "sessions", limit=SESSIONS_SHOWN, **bounds),
        sources=fetch_rows(connection, "from source_health"),
        rejects=fetch_rows(connection, "from rejects_by_code"),
        findings=_ask(connection, "findings"),
    )


def _ask(connection: Connection, name: str, **parameters: Any) -> list[Row]:
    query = sqlassets.find(f"usage_page_{name}", ["reports"])
    return fetch_rows(
        connection, query.text, {key: parameters[key] for key in query.params if key in parameters}
    )
