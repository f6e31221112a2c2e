"""``dsh-lake fixtures drift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.findings import FixturesFormatOption, print_report
from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import OutputOption, QuietOption, VerboseOption
from dsh_lake.cli.output import print_document


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
    output_format: FixturesFormatOption = None,
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
        narration.note(drift_text.NOTHING_COMPARED)
    chosen = output_format.document if output_format is not None else None
    if output_format is not None and chosen is None:
        print_report(found, output_format, output)
        return found.exit_code
    if scenario is not None:
        rows = found.difference(scenario, with_text=with_text)
        print_document(rows, chosen, output, drift_text.difference_text)
    else:
        print_document(found.document(), chosen, output, drift_text.drift_text)
    return found.exit_code
