"""The table of ``dsh-lake sessions`` for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dsh_lake.cli.layout import NOTHING, Column
from dsh_lake.cli.rows import cells

if TYPE_CHECKING:
    import pyarrow as pa

_COUNTS = ("turns", "tools", "errors", "tokens")


def session_columns(rows: pa.Table) -> list[Column]:
    """The columns of the sessions: times to the minute, counts with separators, names without what all
    of them begin with. The beginning of an id is enough for ``dsh-lake show``."""
    texts = {name: cells(rows.column(name)) for name in rows.schema.names}
    return [
        Column("time (UTC)", [_minute(time) for time in texts["time"]], is_rigid=True),
        Column("title", texts["title"]),
        Column("workspace", [name.strip("-") or name for name in texts["workspace"]], is_optional=True),
        Column("model", texts["model"], is_optional=True),
        *(Column(name, list(_grouped(rows.column(name).to_pylist())), is_number=True) for name in _COUNTS),
        Column(_cost_title(rows), list(_costs(rows)), is_number=True, is_optional=True),
        Column("session", [name.removeprefix("session-") for name in texts["session_id"]]),
    ]


def _cost_title(rows: pa.Table) -> str:
    currencies = sorted({currency for currency in rows.column("currency").to_pylist() if currency})
    return f"cost ({', '.join(currencies)})" if currencies else "cost"


def _costs(rows: pa.Table) -> Iterator[str]:
    """Costs to a hundredth of a cent; what some calls without a price may add to is at least that much."""
    for cost, unpriced in zip(rows["cost"].to_pylist(), rows["unpriced_calls"].to_pylist(), strict=True):
        yield NOTHING if cost is None else f"{'≥' if unpriced else ''}{cost:,.4f}"


def _minute(time: str) -> str:
    return time if time == NOTHING else time[: time.index("T") + 6].replace("T", " ")


def _grouped(counts: Iterable[int | None]) -> Iterable[str]:
    return (NOTHING if count is None else f"{count:,}" for count in counts)
