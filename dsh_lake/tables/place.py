"""Where a row comes from: the columns that every event row begins with."""

from __future__ import annotations

from typing import Any, NamedTuple

Row = tuple[Any, ...]
"""One stored row, in the order of ``schemas.Table.stored``."""

Head = tuple[int, int, bool, bool, int, int]
"""source_key, batch, is_tail, is_recovered, line, seq: the first columns of every event row."""


class When(NamedTuple):
    """Time (UTC microseconds), turn and step of an event; each may be unknown."""

    at_us: int | None
    turn: int | None
    step: int | None
