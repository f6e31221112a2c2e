"""``dsh-lake reconcile``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.options import (
    AsOfOption,
    DocumentFormat,
    LakeOption,
    OutputOption,
    QuietOption,
    RowFormat,
    RowFormatOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document, print_rows, row_format


def reconcile(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="A provider's usage export (CSV), or the folder of a DSH home, whose own figures are taken.",
        ),
    ],
    time_zone: Annotated[
        str,
        typer.Option("--time-zone", metavar="ZONE", help="Where the days of the export begin."),
    ] = "UTC",
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: RowFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Hold the tokens of the lake against a provider's usage export, or against DSH's own figures.

    A gap is divided into what one side alone counts: attempts, compactions, inherited usage, calls for titles
    and searches (their tokens are in no log), stale caches. Exits with 2 if some of it stays unexplained.
    docs/other-tools.md says which columns of an export are understood.

    \b
    Examples:
      dsh-lake reconcile usage-2026-11.csv
      dsh-lake reconcile usage.csv --time-zone Asia/Shanghai --format csv -o gaps.csv
      dsh-lake reconcile ~/.dsh
    """
    from dsh_lake.cli.reconcile_text import reconcile_text
    from dsh_lake.reconcile import reconcile as compare
    from dsh_lake.reconcile import reconcile_rows

    chosen = row_format(output_format, output)
    result = compare(file, lake=lake, as_of=as_of, time_zone=time_zone)
    if chosen in (RowFormat.TABLE, RowFormat.JSON):
        print_document(result, DocumentFormat(chosen), output, reconcile_text)
    else:
        print_rows(reconcile_rows(result), chosen, output)
    return ExitCode.CLEAN if result["ok"] else ExitCode.FINDINGS
