"""``dsh-lake check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.findings import FindingsFormatOption, print_findings
from dsh_lake.cli.options import AsOfOption, LakeOption, OutputOption, QuietOption, VerboseOption

if TYPE_CHECKING:
    from dsh_lake.reports.report import Report


def check(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", show_default=False, help="Run this check; may be repeated."),
    ] = None,
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: FindingsFormatOption = None,
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
    from dsh_lake.checks import finding_rows
    from dsh_lake.cli.check_text import check_text

    result = run_checks(lake, as_of=as_of, only=only or ())
    print_findings(result, output_format, output, render=check_text, rows=finding_rows, report=_report)
    return ExitCode.CLEAN if result["ok"] else ExitCode.FINDINGS


def _report(result: dict[str, Any]) -> Report:
    """Imported when one is asked for: what writes XML takes a while."""
    from dsh_lake.reports import checked_lake

    return checked_lake(result)
