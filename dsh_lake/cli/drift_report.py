"""``dsh-lake report drift``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.drift_text import NOTHING_COMPARED
from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import QuietOption, VerboseOption
from dsh_lake.cli.output import opened
from dsh_lake.errors import UsageError
from dsh_lake.quantities import counted


def drift(
    expected: Annotated[
        Path, typer.Argument(metavar="EXPECTED", show_default=False, help="Fixtures, or earlier runs.")
    ],
    actual: Annotated[Path, typer.Argument(metavar="ACTUAL", show_default=False, help="Runs, or fixtures.")],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", show_default=False, help="Write a page.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            show_default=False,
            help="Write Markdown, as for a comment on a pull request. Default: to stdout.",
        ),
    ] = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--earlier",
            metavar="DIR",
            show_default=False,
            help="Results of earlier nights (fixtures drift --format json), by name: since when?",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", show_default=False, help="TOML that says how grave each tier is."
        ),
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Show the lines that differ: they may be private.")
    ] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Write a page about drift: what broke, since when, and every difference side by side.

    It ends as `dsh-lake fixtures drift` does. A page needs the extra report: see
    `dsh-lake report usage --help`.

    \b
    Examples:
      dsh-lake report drift snapshots harvest --html drift.html --earlier nights
      dsh-lake report drift snapshots harvest > comment.md
    """
    from dsh_lake.reports.drift import report_drift

    if html is not None and markdown is not None:
        raise UsageError("give one of --html and --markdown")
    chosen = "html" if html is not None else "markdown"
    made = report_drift(expected, actual, format=chosen, earlier=earlier, config=config, with_text=with_text)
    with opened(html or markdown) as target:
        target.sink.write(made.text.encode("utf-8"))
    if (file := html or markdown) is not None:
        narration.note(f"{counted(made.drift.compared, 'scenario')} compared on a page: {file}")
    if not made.drift.compared:
        narration.note(NOTHING_COMPARED)
    return made.drift.exit_code
