"""``dsh-lake doctor`` and ``compact``: the state of the lake and its upkeep."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.options import (
    DocumentFormatOption,
    LakeOption,
    OutputOption,
    QuietOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document


def doctor(
    lake: LakeOption = None,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Say what is installed, what would be scanned, where the lake is and whether it is sound.

    Changes nothing. Exits with 1 if the lake is broken.

    \b
    Example:
      dsh-lake doctor
    """
    from dsh_lake.cli.lake_text import doctor_text
    from dsh_lake.doctor import doctor as examine

    report = examine(lake)
    print_document(report, output_format, output, doctor_text)
    return ExitCode.CLEAN if report["ok"] else ExitCode.FAILED


def compact(
    lake: LakeOption = None,
    keep: Annotated[
        float, typer.Option("--keep", metavar="DAYS", min=0, help="How far back --as-of can go afterwards.")
    ] = 7.0,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Make the lake smaller and faster: merge small files, delete those that only old scans need.

    What the lake answers does not change. Earlier scans of the last days can still be opened with --as-of.

    \b
    Examples:
      dsh-lake compact
      dsh-lake compact --keep 0
    """
    from dsh_lake.cli.lake_text import compaction_text
    from dsh_lake.compact import compact as compact_lake

    print_document(compact_lake(lake, keep_days=keep), output_format, output, compaction_text)
