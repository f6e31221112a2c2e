"""Rows on their way out: as many as wanted, as a table for people or in another format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dsh_lake.cli.layout import NOTHING, Column, table
from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import RowFormat
from dsh_lake.cli.output import opened, print_rows
from dsh_lake.terminal_text import terminal_text

if TYPE_CHECKING:
    import pyarrow as pa

Columns = Callable[["pa.Table"], Sequence[Column]]


def print_result(
    rows: pa.RecordBatchReader,
    chosen: RowFormat,
    output: Path | None,
    limit: int | None,
    *,
    table_limit: int,
    columns: Columns,
    total: int | None = None,
) -> None:
    """Print the first rows: ``limit`` many, where 0 is all and None the format's own choice.

    Args:
        table_limit: how many rows a table shows unless another number is asked for.
        columns: the columns of a table for people, from the rows to be shown.
        total: how many rows there are, where that is known.
    """
    if limit is None:
        limit = table_limit if chosen is RowFormat.TABLE else 0
    first = _First(rows, limit)
    if chosen is RowFormat.TABLE:
        _print_table(first.rows.read_all(), output, columns)
    else:
        print_rows(first.rows, chosen, output)
    if first.left_out:
        more = "more" if total is None else f"{total - limit:,} more"
        narration.note(f"the first {limit:,} rows; there are {more}: --limit 0 shows all")


class _First:
    """The first rows of a reader, and whether any were left out."""

    def __init__(self, rows: pa.RecordBatchReader, limit: int) -> None:
        self.left_out = False
        self.rows = rows if limit == 0 else self._limited(rows, limit)

    def _limited(self, rows: pa.RecordBatchReader, limit: int) -> pa.RecordBatchReader:
        import pyarrow as pa

        def batches() -> Iterator[pa.RecordBatch]:
            left = limit
            for batch in rows:
                yield batch.slice(0, left)
                self.left_out = batch.num_rows > left
                left -= min(left, batch.num_rows)
                if self.left_out:
                    return

        return pa.RecordBatchReader.from_batches(rows.schema, batches())


def _print_table(rows: pa.Table, output: Path | None, columns: Columns) -> None:
    with opened(output) as target:
        lines = table(columns(rows), target.width)
        target.sink.write("".join(f"{line}\n" for line in lines).encode())


def plain_columns(rows: pa.Table) -> list[Column]:
    """Every column as it is, with values spelled as in every other format."""
    from dsh_lake.formats import is_number

    return [
        Column(terminal_text(field.name), cells(rows.column(number)), is_number(field.type))
        for number, field in enumerate(rows.schema)
    ]


def cells(column: pa.ChunkedArray) -> list[str]:
    """The values of a column, safe to show."""
    from dsh_lake.spelling import text_column

    return [
        NOTHING if text is None else terminal_text(text)
        for chunk in column.chunks
        for text in text_column(chunk)
    ]
