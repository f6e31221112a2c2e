"""Findings for people, tables and CI: which formats there are and how each is printed."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dsh_lake.cli.options import DocumentFormat, RowFormat
from dsh_lake.cli.output import Render, print_document, print_rows, print_text
from dsh_lake.terminal_text import terminal_lines

if TYPE_CHECKING:
    import pyarrow as pa

    from dsh_lake.reports.report import Report


class FindingsFormat(StrEnum):
    """How findings about a lake are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    NDJSON = "ndjson"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    GITHUB = "github"
    SARIF = "sarif"


FindingsFormatOption = Annotated[
    FindingsFormat | None,
    typer.Option(
        "--format",
        show_default=False,
        help="table is for people; json is one object; csv, ndjson and markdown have a row for each "
        "finding; junit, github and sarif are for CI.",
    ),
]


class FixturesFormat(StrEnum):
    """How verdicts on fixtures are printed."""

    TEXT = "text"
    TABLE = "table"
    JSON = "json"
    JUNIT = "junit"
    GITHUB = "github"
    SARIF = "sarif"

    @property
    def document(self) -> DocumentFormat | None:
        """The same of one object; None where it is a report for CI."""
        return _AS_DOCUMENT.get(self)


_AS_DOCUMENT = {
    FixturesFormat.TEXT: DocumentFormat.TABLE,
    FixturesFormat.TABLE: DocumentFormat.TABLE,
    FixturesFormat.JSON: DocumentFormat.JSON,
}

FixturesFormatOption = Annotated[
    FixturesFormat | None,
    typer.Option("--format", show_default=False, help="text is for people, the others for CI."),
]


def print_findings(
    result: dict[str, Any],
    chosen: FindingsFormat | None,
    output: Path | None,
    *,
    render: Render,
    rows: Callable[[dict[str, Any]], pa.RecordBatchReader],
    report: Callable[[dict[str, Any]], Report],
) -> None:
    """Print findings about a lake: as one object, as rows, or as a report for CI."""
    chosen = chosen or FindingsFormat.TABLE
    if chosen in (FindingsFormat.TABLE, FindingsFormat.JSON):
        print_document(result, DocumentFormat(chosen), output, render)
    elif chosen in (FindingsFormat.CSV, FindingsFormat.NDJSON, FindingsFormat.MARKDOWN):
        print_rows(rows(result), RowFormat(chosen), output)
    else:
        from dsh_lake.reports import REPORTS

        print_text([terminal_lines(REPORTS[chosen](report(result)))], output)


def print_report(report: Report, chosen: StrEnum, output: Path | None) -> None:
    """Print a report for CI: ``junit``, ``github`` or ``sarif``."""
    from dsh_lake.reports import REPORTS

    print_text([REPORTS[chosen](report)], output)
