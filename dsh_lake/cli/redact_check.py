"""``dsh-lake redact-check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dsh_lake.cli.check import CheckFormat
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


def redact_check(
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
    """List the secrets in the lake by kind and place, never their value.

    All free text (prompts, titles, arguments, results and so on) is searched for what recording a cassette
    would redact. Equal secrets have equal fingerprints within one run; another run has others. Exits with 2
    if something is found, with 1 if the lake is kept without content: there is nothing to be checked then.

    \b
    Examples:
      dsh-lake redact-check
      dsh-lake redact-check --format csv -o secrets.csv
    """
    from dsh_lake.redact_check import redact_check as list_secrets

    result = list_secrets(lake, as_of=as_of)
    _print(result, output_format or CheckFormat.TABLE, output)
    return ExitCode.CLEAN if result["ok"] else ExitCode.FINDINGS


def _print(result: dict[str, Any], chosen: CheckFormat, output: Path | None) -> None:
    if chosen in (CheckFormat.TABLE, CheckFormat.JSON):
        from dsh_lake.cli.redact_check_text import redact_check_text

        print_document(result, DocumentFormat(chosen), output, redact_check_text)
    elif chosen in (CheckFormat.CSV, CheckFormat.NDJSON, CheckFormat.MARKDOWN):
        from dsh_lake.redact_check import finding_rows

        print_rows(finding_rows(result), RowFormat(chosen), output)
    else:
        from dsh_lake.reports import REPORTS, secrets_found

        with opened(output) as target:
            text = REPORTS[chosen](secrets_found(result))
            target.sink.write(terminal_lines(text).encode("utf-8", "backslashreplace"))
