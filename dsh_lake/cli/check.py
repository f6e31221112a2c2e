"""``dsh-lake check``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.options import (
    AsOfOption,
    DocumentFormat,
    LakeOption,
    OutputOption,
    QuietOption,
    RowFormat,
    VerboseOption,
)
from dsh_lake.cli.output import opened, print_document, print_rows
from dsh_lake.terminal_text import terminal_lines


class CheckFormat(StrEnum):
    """How the findings of checks are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    NDJSON = "ndjson"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    GITHUB = "github"
    SARIF = "sarif"


def check(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", show_default=False, help="Run this check; may be repeated."),
    ] = None,
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: Annotated[
        CheckFormat | None,
        typer.Option(
            "--format",
            show_default=False,
            help="table is for people; json is one object; csv, ndjson and markdown have a row for each "
            "finding; junit, github and sarif are for CI.",
        ),
    ] = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Check that what must hold in any lake holds in this one.

    Findings of severity fail end with 2; warnings alone are printed and end with 0. `dsh-lake views` lists
    the checks, and `dsh-lake sql 'from NAME'` asks one of them.

    \b
    Examples:
      dsh-lake check
      dsh-lake check --only missing_parents --only usage_sum_mismatches
      dsh-lake check --format junit -o checks.xml
    """
    from dsh_lake.checks import check as run_checks

    result = run_checks(lake, as_of=as_of, only=only or ())
    _print(result, output_format or CheckFormat.TABLE, output)
    return ExitCode.CLEAN if result["ok"] else ExitCode.FINDINGS


def _print(result: dict[str, Any], chosen: CheckFormat, output: Path | None) -> None:
    if chosen in (CheckFormat.TABLE, CheckFormat.JSON):
        from dsh_lake.cli.check_text import check_text

        print_document(result, DocumentFormat(chosen), output, check_text)
    elif chosen in (CheckFormat.CSV, CheckFormat.NDJSON, CheckFormat.MARKDOWN):
        from dsh_lake.checks import finding_rows

        print_rows(finding_rows(result), RowFormat(chosen), output)
    else:
        from dsh_lake.reports import REPORTS, checked_lake

        with opened(output) as target:
            text = REPORTS[chosen](checked_lake(result))
            target.sink.write(terminal_lines(text).encode("utf-8", "backslashreplace"))
