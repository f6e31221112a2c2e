"""``dsh-lake fixtures drift``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import DocumentFormat, OutputOption, QuietOption, VerboseOption
from dsh_lake.cli.output import opened, print_document


class DriftFormat(StrEnum):
    """How differences are printed."""

    TEXT = "text"
    TABLE = "table"
    JSON = "json"
    JUNIT = "junit"
    GITHUB = "github"
    SARIF = "sarif"


def drift(
    expected: Annotated[
        Path,
        typer.Argument(
            metavar="EXPECTED", show_default=False, help="Fixtures, or earlier runs: a tree, or one scenario."
        ),
    ],
    actual: Annotated[
        Path, typer.Argument(metavar="ACTUAL", show_default=False, help="What to compare: runs, or fixtures.")
    ],
    scenario: Annotated[
        str | None,
        typer.Option(
            "--diff",
            metavar="SCENARIO",
            show_default=False,
            help="The whole difference of one scenario, line by line: places, types and digests, no texts.",
        ),
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="With --diff also the lines themselves: they may be private.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", show_default=False, help="TOML that says how grave each tier is."
        ),
    ] = None,
    output_format: Annotated[
        DriftFormat | None,
        typer.Option("--format", show_default=False, help="text is for people, the others for CI."),
    ] = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Compare fixtures with fresh runs, or two nights with each other: what changed, and is it a change?

    Logs of both sides are normalised as the original kit does and aligned, and every difference is given a
    cause. Random ids, clocks and the like are noise: they are named, and end with 0. Drift ends with 2, and a
    comparison that compared nothing with 1.

    \b
    Examples:
      dsh-lake fixtures drift snapshots harvest
      dsh-lake fixtures drift snapshots harvest --diff session/fs-write
      dsh-lake fixtures drift monday tuesday --format junit -o drift.xml
    """
    from dsh_lake.cli import drift_text
    from dsh_lake.drift.verdict import fixtures_drift
    from dsh_lake.errors import UsageError

    if with_text and scenario is None:
        raise UsageError("--with-text belongs to --diff SCENARIO")
    found = fixtures_drift(expected, actual, config=config)
    if not found.compared:
        narration.note("nothing was compared: no scenario of one side belongs to one of the other")
    if output_format in (DriftFormat.JUNIT, DriftFormat.GITHUB, DriftFormat.SARIF):
        from dsh_lake.reports import REPORTS

        with opened(output) as target:
            target.sink.write(REPORTS[output_format](found).encode("utf-8", "backslashreplace"))
        return found.exit_code
    is_text = output_format in (DriftFormat.TEXT, DriftFormat.TABLE)
    chosen = None if output_format is None else DocumentFormat.TABLE if is_text else DocumentFormat.JSON
    if scenario is not None:
        rows = found.difference(scenario, with_text=with_text)
        print_document(rows, chosen, output, drift_text.difference_text)
    else:
        print_document(found.document(), chosen, output, drift_text.drift_text)
    return found.exit_code
