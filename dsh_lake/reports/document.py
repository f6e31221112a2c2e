"""What a page for people is made of, whatever it is written in: headings, sentences, figures, tables, charts.

All text here is plain. How it is kept from being markup, or from turning the reader's screen, is the matter
of the one module that writes the format: :mod:`dsh_lake.reports.html` or :mod:`dsh_lake.reports.markdown`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

UNKNOWN = "\u2013"
"""What stands for a value that is not known, or that there is none of."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that stands out: what it is, and a sentence on what is in it."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; ``is_code`` for text that is meant to be copied as it is."""

    heading: str
    is_number: bool = False
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under their columns; the first column names the row. ``note`` says what is left out,
    ``command`` what shows it. A folded table is there for those who look for it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    note: str = ""
    command: str = ""
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of numbers that also stand in a table of the section; drawn only for formats that show it."""

    name: str
    title: str
    specify: Callable[[], Mapping[str, Any]]
    """Gives its Vega-Lite specification."""
    legend: Sequence[str] = ()
    """What the colours stand for, in their order."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Words and what they mean, each in a sentence."""

    meanings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, sentences that say what is shown, and what is shown."""

    title: str
    sentences: Sequence[str] = ()
    blocks: Sequence[Table | Chart | Terms] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page: what it is about, when and from what it was made, and all that is on it."""

    title: str
    facts: Sequence[str]
    warnings: Sequence[str] = ()
    """Why what is shown is only a part of the truth."""
    figures: Sequence[Figure] = ()
    sections: Sequence[Section] = field(default=())

    @property
    def charts(self) -> list[Chart]:
        """All charts, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Chart)]
