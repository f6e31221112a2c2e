"""``dsh-lake export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import AsOfOption, LakeOption, QuietOption, RowFormat, VerboseOption
from dsh_lake.cli.output import stdout_for
from dsh_lake.errors import UsageError
from dsh_lake.quantities import counted


class ExportFormat(StrEnum):
    """How rows are written."""

    PARQUET = "parquet"
    CSV = "csv"
    NDJSON = "ndjson"


def export(
    what: Annotated[
        str | None, typer.Argument(metavar="WHAT", show_default=False, help="Name of a table or view.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default=False,
            help="Where to: a file, or with --metadata-only a folder. Default, and -: stdout.",
        ),
    ] = None,
    metadata_only: Annotated[
        bool,
        typer.Option(
            "--metadata-only",
            show_default=False,
            help="Export the whole lake without content, ids and paths, to be shared.",
        ),
    ] = False,
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", show_default=False, help="Default: what the name given to -o says; csv to stdout."
        ),
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Write a table or view to a file for other tools, or a lake that can be shared.

    Files are readable by you alone. With --metadata-only the folder becomes a lake of the same numbers, in
    which ids and paths are keyed digests and texts their length and digest; docs/other-tools.md lists what
    stays.

    \b
    Examples:
      dsh-lake export usage_by_day -o usage.parquet
      dsh-lake export tool_calls --format ndjson | head
      dsh-lake export --metadata-only -o lake-to-share
    """
    from dsh_lake.export import export as export_lake

    if output is None or str(output) == "-":
        if metadata_only:
            raise UsageError("--metadata-only writes a folder: say which with -o DIR")
        chosen = output_format or ExportFormat.CSV
        if chosen is ExportFormat.PARQUET:
            raise UsageError("--format parquet writes a file: say which with -o FILE")
        with stdout_for(RowFormat(chosen)) as sink:
            export_lake(what, sink, lake=lake, format=chosen, as_of=as_of)
        return
    result = export_lake(
        what, output, lake=lake, format=output_format, as_of=as_of, metadata_only=metadata_only
    )
    rows = sum(result["tables"].values()) if metadata_only else result["rows"]
    narration.note(f"{counted(rows, 'row')} in {output}")
