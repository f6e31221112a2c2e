"""``dsh-lake baseline``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from dsh_lake.cli.exits import ExitCode
from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import (
    AsOfOption,
    DocumentFormat,
    LakeOption,
    OutputOption,
    QuietOption,
    RowFormat,
    RowFormatOption,
    TimeZoneOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document, print_rows, row_format


class Grain(StrEnum):
    """What measures are grouped by."""

    DAY = "day"
    WEEK = "week"
    MODEL = "model"
    WORKSPACE = "workspace"
    TOOL = "tool"
    SESSION = "session"


def baseline(
    by: Annotated[
        Grain | None, typer.Option("--by", show_default=False, help="A row for each of these as well.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DAY",
            show_default=False,
            help="Only what happened from that day on (2026-11-30), or from an instant of ISO 8601.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="DAY",
            show_default=False,
            help="Only what happened before that day, or before an instant.",
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            "--workspace",
            metavar="NAME",
            show_default=False,
            help="Only sessions of this workspace: its name, or the folder that was worked in.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", show_default=False, help="Only what this model did."),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="NAME",
            show_default=False,
            help="Keep the result in the lake under this name, in the place of an earlier one.",
        ),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            metavar="NAME",
            show_default=False,
            help="Say what moved since that was saved; exit 2 if something did. Without --since: all that "
            "came after it.",
        ),
    ] = None,
    time_zone: TimeZoneOption = None,
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: RowFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Measure what agents did: turns, tools, failures, latencies, tokens, cache, cost.

    json is one object with all of it; csv, ndjson, markdown and parquet have the rows of the comparison, else
    of --by, else one. A measure has moved when it lies outside of its usual spread: rates by intervals of
    95 % confidence that do not overlap, all others when the median of the days is more than three usual
    spreads from the usual day. What is too few to judge is said to be.

    \b
    Examples:
      dsh-lake baseline --by tool
      dsh-lake baseline --since 2026-11-01 --until 2026-12-01 --save november
      dsh-lake baseline --compare november
    """
    from dsh_lake.baseline import baseline as measure
    from dsh_lake.baseline import baseline_rows

    chosen = row_format(output_format, output)
    result = measure(
        lake,
        by=by,
        since=since,
        until=until,
        workspace=workspace,
        model=model,
        save=save,
        compare=compare,
        time_zone=time_zone,
        as_of=as_of,
    )
    if chosen in (RowFormat.TABLE, RowFormat.JSON):
        from dsh_lake.cli.baseline_text import baseline_text

        print_document(result, DocumentFormat(chosen), output, baseline_text)
    else:
        print_rows(baseline_rows(result), chosen, output)
    if save is not None:
        narration.note(f"saved as {save}: `dsh-lake baseline --compare {save}` says what moved since")
    return ExitCode.FINDINGS if result["comparison"] and result["comparison"]["moved"] else ExitCode.CLEAN
