"""Columns of text for people: aligned by what a terminal shows, not by characters.

On a terminal the widest columns give way until a line fits, and what does not fit at all is shown one value
a line. Elsewhere every line is as long as it needs to be, so that nothing is lost and the output is the same
everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

GAP = "  "
NOTHING = "-"
"""What stands for a value that is not known."""
_NARROWEST = 8


class Column(NamedTuple):
    """A heading and its cells, which are safe to show."""

    heading: str
    cells: Sequence[str]
    is_number: bool = False


def table(columns: Sequence[Column], width: int | None = None) -> list[str]:
    """The lines of a table with its headings, no wider than ``width`` where one is given."""
    widths = [max(map(cell_len, (column.heading, *column.cells))) for column in columns]
    if width is not None and not _narrow(widths, width):
        return _records(columns, width)
    rows = zip(*(column.cells for column in columns), strict=True)
    headings = [column.heading for column in columns]
    return [_line(columns, widths, row) for row in (headings, *rows)]


def _narrow(widths: list[int], width: int) -> bool:
    """Take from the widest columns until all fit; False where that leaves one too narrow to be read."""
    while (excess := sum(widths) + len(GAP) * (len(widths) - 1) - width) > 0:
        widest = max(widths)
        if widest <= _NARROWEST:
            return False
        following = max((other for other in widths if other < widest), default=0)
        number = widths.index(widest)
        widths[number] = (
            max(_NARROWEST, following, widest - excess) if widths.count(widest) == 1 else widest - 1
        )
    return True


def _line(columns: Sequence[Column], widths: Sequence[int], row: Sequence[str]) -> str:
    cells = [
        fitted(cell, size, to_right=column.is_number)
        for column, size, cell in zip(columns, widths, row, strict=True)
    ]
    return GAP.join(cells).rstrip()


def fitted(cell: str, size: int, *, to_right: bool = False) -> str:
    """The cell in exactly ``size`` places of a terminal; what is cut off shows as an ellipsis."""
    taken = cell_len(cell)
    if taken > size:
        return set_cell_size(cell, size - 1) + "…"
    return " " * (size - taken) + cell if to_right else cell + " " * (size - taken)


def _records(columns: Sequence[Column], width: int) -> list[str]:
    """One value a line, and an empty line between rows."""
    size = max(cell_len(column.heading) for column in columns)
    lines = []
    for number in range(len(columns[0].cells)):
        lines += [""] if number else []
        for column in columns:
            cell = column.cells[number]
            room = max(_NARROWEST, width - size - len(GAP))
            shown = fitted(cell, room).rstrip() if cell_len(cell) > room else cell
            lines.append(f"{fitted(column.heading, size)}{GAP}{shown}".rstrip())
    return lines
