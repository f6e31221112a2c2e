"""``dsh-lake redact-check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.findings import FindingsFormatOption, print_findings
from dsh_lake.cli.options import AsOfOption, LakeOption, OutputOption, QuietOption, VerboseOption

if TYPE_CHECKING:
    from dsh_lake.reports.report import Report


def redact_check(
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: FindingsFormatOption = None,
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
    from dsh_lake.cli.redact_check_text import redact_check_text
    from dsh_lake.redact_check import finding_rows
    from dsh_lake.redact_check import redact_check as list_secrets

    result = list_secrets(lake, as_of=as_of)
    print_findings(result, output_format, output, render=redact_check_text, rows=finding_rows, report=_report)
    return ExitCode.CLEAN if result["ok"] else ExitCode.FINDINGS


def _report(result: dict[str, Any]) -> Report:
    """Imported when one is asked for: what writes XML takes a while."""
    from dsh_lake.reports import secrets_found

    return secrets_found(result)
