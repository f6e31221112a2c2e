"""A page as Markdown that GitHub and others show: tables in the place of charts, and no text that is markup.

Every text of the page is made safe here: nothing in it is read as Markdown or HTML, becomes a link, or turns
the direction of what is around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dsh_lake.reports.document import Chart, Column, Page, Section, Table, Terms
from dsh_lake.terminal_text import terminal_text

_MARKUP = re.compile(r"[\\`*_\[\]#|~$]")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_LINKED = re.compile(r"(?i)(?<=[a-z])(?=://)|(?<=www)(?=\.)|(?=@)")
"""Where a reader of Markdown would find the beginning of a link in plain text."""


def markdown(page: Page) -> str:
    """The whole page."""
    return "\n".join(line.rstrip() for line in _lines(page)) + "\n"


def plain(text: str) -> str:
    r"""The text with everything in it taken as text.

    >>> plain("[x](javascript:y) <b>")
    '\\[x\\](javascript:y) &lt;b&gt;'
    """
    escaped = _MARKUP.sub(r"\\\g<0>", terminal_text(text).translate(_HTML))
    return _LINKED.sub("<!-- -->", escaped)


def code(text: str) -> str:
    """The text to be copied as it is, within a cell of a table."""
    shown = terminal_text(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    padding = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{fence}{padding}{shown}{padding}{fence}".replace("|", r"\|")


def _lines(page: Page) -> Iterator[str]:
    yield f"# {plain(page.title)}"
    yield ""
    for fact in page.facts:
        yield f"{plain(fact)}  "
    for warning in page.warnings:
        yield from ("", f"> **Partial:** {plain(warning)}")
    if page.figures:
        yield ""
        yield from _table(
            [Column("figure"), Column("value"), Column("what is in it")],
            ([figure.label, figure.value, figure.note] for figure in page.figures),
        )
    for section in page.sections:
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {plain(section.title)}")
    for sentence in section.sentences:
        yield from ("", plain(sentence))
    for block in section.blocks:
        if isinstance(block, Terms):
            yield ""
            for word, meaning in block.meanings.items():
                yield f"- **{plain(word)}**: {plain(meaning)}"
        elif isinstance(block, Table):
            yield from ("", f"### {plain(block.title)}", "")
            yield from _table(block.columns, block.rows)
            if block.note or block.command:
                yield ""
                yield f"{plain(block.note)} {code(block.command) if block.command else ''}"
        else:
            assert isinstance(block, Chart)  # Its numbers stand in a table beside it.


def _table(columns: Iterable[Column], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = list(columns)
    yield _row(plain(column.heading) for column in columns)
    yield _row("---:" if column.is_number else "---" for column in columns)
    for row in rows:
        yield _row(
            code(cell) if column.is_code and cell else plain(cell)
            for column, cell in zip(columns, row, strict=True)
        )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
