"""Where a row comes from: the columns that every event row begins with."""

from __future__ import annotations

from typing import Any

Row = tuple[Any, ...]
"""One stored row, in the order of ``schemas.Table.stored``."""

Head = tuple[int, int, bool, bool, int, int]
"""source_key, batch, is_tail, is_recovered, line, seq: the first columns of every event row."""


When = tuple[int | None, int | None, int | None]
"""Time (UTC microseconds), turn and step of an event; each may be unknown."""
