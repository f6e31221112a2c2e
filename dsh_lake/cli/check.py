"""``dsh-lake check``."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.options import (
    AsOfOption,
    DocumentFormatOption,
    LakeOption,
    OutputOption,
    QuietOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document


def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="CHECK", show_default=False, help="Checks to run. Default: all."),
    ] = None,
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Run the checks over the lake; exit with 2 if one of severity fail finds something.

    \b
    Examples:
      dsh-lake check
      dsh-lake check cassette_chain_breaks --format json
    """
    from dsh_lake.checks import check as run_checks
    from dsh_lake.cli.check_text import check_text

    result = run_checks(lake, as_of=as_of, names=names or ())
    print_document(result, output_format, output, check_text)
    return ExitCode.CLEAN if result["ok"] else ExitCode.FINDINGS
