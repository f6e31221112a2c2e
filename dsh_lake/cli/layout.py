"""Columns of text for people: aligned by what a terminal shows, not by characters.

On a terminal the widest columns of text give way until a line fits, numbers never; then optional columns are
left out, which is said; and what does not fit even so is shown one value a line. Elsewhere every line is as
long as it needs to be: nothing is lost, and the output is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

GAP = "  "
NOTHING = "-"
"""What stands for a value that is not known."""
_NARROWEST = 12
"""What of a column of text has to remain to be of use."""
_LONGEST = 1000


class Column(NamedTuple):
    """A heading and its cells, which are safe to show. A rigid column is never cut, an optional one may be
    left out where there is no room."""

    heading: str
    cells: Sequence[str]
    is_number: bool = False
    is_rigid: bool = False
    is_optional: bool = False

    @property
    def width(self) -> int:
        """Places that it takes in full."""
        return max(map(cell_len, (self.heading, *self.cells)))


def table(columns: Sequence[Column], width: int | None = None) -> list[str]:
    """The lines of a table with its headings, no wider than ``width`` where one is given."""
    shown = list(columns)
    widths = [column.width for column in shown]
    while width is not None and not _narrow(shown, widths, width):
        optional = [number for number, column in enumerate(shown) if column.is_optional]
        if not optional:
            return _records(columns)
        del shown[optional[-1]]
        widths = [column.width for column in shown]
    rows = zip(*(column.cells for column in shown), strict=True)
    lines = [_line(shown, widths, row) for row in ([column.heading for column in shown], *rows)]
    left_out = [column.heading for column in columns if column not in shown]
    return [*lines, f"(no room for {', '.join(left_out)})"] if left_out else lines


def _narrow(columns: Sequence[Column], widths: list[int], width: int) -> bool:
    """Take from the widest columns of text until all fit; False if they would become too narrow to read."""
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width
    soft = [number for number, column in enumerate(columns) if not (column.is_number or column.is_rigid)]
    if excess > sum(max(0, widths[number] - _NARROWEST) for number in soft):
        return False
    for _ in range(excess):
        widths[max(soft, key=lambda number: widths[number])] -= 1
    return True


def _line(columns: Sequence[Column], widths: Sequence[int], row: Sequence[str]) -> str:
    cells = [
        fitted(cell, size, to_right=column.is_number)
        for column, size, cell in zip(columns, widths, row, strict=True)
    ]
    return GAP.join(cells).rstrip()


def fitted(cell: str, size: int, *, to_right: bool = False) -> str:
    """The cell in exactly ``size`` places of a terminal; what is cut off shows as an ellipsis."""
    if cell_len(cell) > size:
        cell = set_cell_size(cell, size - 1).rstrip() + "…"
    room = " " * (size - cell_len(cell))
    return room + cell if to_right else cell + room


def _records(columns: Sequence[Column]) -> list[str]:
    """One value a line, and an empty line between rows."""
    longest = max(cell_len(column.heading) for column in columns)
    lines = []
    for number in range(len(columns[0].cells)):
        lines += [""] if number else []
        for column in columns:
            cell = column.cells[number]
            shown = cell if cell_len(cell) <= _LONGEST else fitted(cell, _LONGEST)
            lines.append(f"{fitted(column.heading, longest)}{GAP}{shown}".rstrip())
    return lines
