"""``dsh-lake scan``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import (
    DocumentFormatOption,
    JobsOption,
    LakeOption,
    OutputOption,
    QuietOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document
from dsh_lake.cli.progress import reading_progress
from dsh_lake.errors import UnreadableSource


def scan(
    roots: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="ROOT",
            show_default=False,
            help="DSH homes, other folders, or single files. Default: $DSH_HOME, else ~/.dsh.",
        ),
    ] = None,
    lake: LakeOption = None,
    jobs: JobsOption = None,
    full: Annotated[bool, typer.Option("--full", help="Read every file again, changed or not.")] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Forget files below the roots that are gone; else they are remembered."),
    ] = False,
    no_content: Annotated[
        bool, typer.Option("--no-content", help="Keep no text of messages, arguments or results in the lake.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 2 if anything could not be read (findings of severity fail)."
        ),
    ] = False,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Read session archives into the lake and print what is in there.

    What is in my archives: how many sessions, messages, tool calls and failures, tokens, and what could not
    be read? Only what changed since the last scan is read again. The archives themselves are never written.

    \b
    Examples:
      dsh-lake scan
      dsh-lake scan ~/.dsh /backup/laptop/.dsh
      dsh-lake scan --format json -o summary.json
    """
    from dsh_lake.cli.summary_text import summary_text
    from dsh_lake.scan import scan as scan_roots

    try:
        with reading_progress() as progress:
            summary = scan_roots(
                roots or None,
                lake=lake,
                jobs=jobs,
                full=full,
                prune=prune,
                content=not no_content,
                on_start=progress.on_start,
                on_read=progress.on_read,
            )
    except UnreadableSource as error:
        if roots:
            raise
        elsewhere = f"{error.reason}; where else a home is: dsh-lake scan DIR, or DSH_HOME"
        raise UnreadableSource(error.path, elsewhere) from error
    narration.detail(f"lake: {summary['lake']}, {summary['elapsed_s']} s")
    print_document(summary, output_format, output, summary_text)
    is_faulty = any(finding["severity"] == "fail" for finding in summary["findings"])
    return ExitCode.FINDINGS if strict and is_faulty else ExitCode.CLEAN
