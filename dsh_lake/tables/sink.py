"""Where rows are collected before they become Arrow: one list per table, in file order."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dsh_lake.schemas import ROW_TABLES
from dsh_lake.tables.arrow import to_batch
from dsh_lake.tables.place import Marks, Row

_NO_MARKS: Marks = (0, 0, False, False)


class RowSink:
    """Rows per table, and for each table the runs of rows that have the same marks.

    Attributes:
        rows: rows by table, without marks; add to these lists.
        with_content: whether rows may hold free text.
    """

    def __init__(self, *, with_content: bool = True) -> None:
        self.rows: dict[str, list[Row]] = {name: [] for name in ROW_TABLES}
        self.with_content = with_content
        self._marks = _NO_MARKS
        self._runs: dict[str, list[tuple[int, Marks]]] = {name: [] for name in ROW_TABLES}

    def mark(self, marks: Marks) -> None:
        """Give these marks to all rows that are added from now on."""
        self._marks = marks
        for name, runs in self._runs.items():
            runs.append((len(self.rows[name]), marks))

    def take(self, table: str) -> pa.RecordBatch:
        """The rows of a table as a record batch of its stored schema; they are held no longer."""
        rows, runs = self.rows[table], self._runs[table]
        batch = to_batch(table, rows, _lengths(runs, len(rows)))
        rows.clear()
        self._runs[table] = [(0, self._marks)]
        return batch

    def relieve(self, text_bytes: int) -> None:
        """Take note of text (its decoded bytes) that became rows; a sink that writes may write them now."""


def _lengths(runs: Sequence[tuple[int, Marks]], total: int) -> list[tuple[int, Marks]]:
    """How many rows have which marks, in order."""
    ends = [start for start, _ in runs[1:]] + [total]
    return [(end - start, marks) for (start, marks), end in zip(runs, ends, strict=True) if end > start]
