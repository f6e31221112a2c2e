"""Where a row comes from: the columns that every event row begins with."""

from __future__ import annotations

from typing import Any

Marks = tuple[int, int, bool, bool]
"""source_key, batch, is_tail, is_recovered: the first columns of every row table, the same for whole
runs of rows and therefore kept once per run."""

Row = tuple[Any, ...]
"""One stored row without its marks, in the order of ``schemas.Table.stored``."""

Head = tuple[int, int]
"""line, seq: the first columns of every event row after the marks."""


When = tuple[int | None, int | None, int | None]
"""Time (UTC microseconds), turn and step of an event; each may be unknown."""
