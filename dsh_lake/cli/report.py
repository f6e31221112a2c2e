"""``dsh-lake report``: pages to look at."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.drift_report import drift
from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import (
    AsOfOption,
    LakeOption,
    QuietOption,
    RowFormat,
    TimeZoneOption,
    VerboseOption,
)
from dsh_lake.cli.output import stdout_for
from dsh_lake.errors import UsageError
from dsh_lake.quantities import counted

app = typer.Typer(name="report", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def report() -> None:
    """Pages to look at, each one file that needs no network."""


@app.command(short_help="What was used, what it cost, which tools fail.")
def usage(
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", show_default=False, help="Write a page with charts."),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", show_default=False, help="Write tables in Markdown."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            show_default=False,
            help="The one or the other, as the name says. Default: Markdown to stdout.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DAY", show_default=False, help="First day, such as 2026-11-01."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="DAY", show_default=False, help="First day that is left out again."),
    ] = None,
    titles: Annotated[
        bool,
        typer.Option(
            "--titles", show_default=False, help="Show titles of sessions: words of what was asked."
        ),
    ] = False,
    time_zone: TimeZoneOption = None,
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Write a page about usage: tokens and cost by day, cache, models, tools, sessions, what could not be
    read.

    It explains its words, so that readers need not know DSH. No prompt, argument or result is on it. Charts
    need the extra: in dsh-lake's folder, pip install '.[report]'.

    \b
    Examples:
      dsh-lake report usage --html usage.html
      dsh-lake report usage --since 2026-11-01 --until 2026-12-01 -o november.md
    """
    from dsh_lake.reports.usage import report_usage

    asked = partial(
        report_usage, lake=lake, as_of=as_of, since=since, until=until, titles=titles, time_zone=time_zone
    )
    given = [
        (file, chosen)
        for file, chosen in ((html, "html"), (markdown, "markdown"), (output, None))
        if file is not None
    ]
    if len(given) > 1:
        raise UsageError("give one of --html, --markdown and -o")
    if not given:
        with stdout_for(RowFormat.MARKDOWN) as sink:
            asked(sink, format="markdown")
        return
    file, chosen = given[0]
    made = asked(file, format=chosen)
    narration.note(f"{counted(made['sessions'], 'session')} on a page of {made['bytes']:,} bytes: {file}")


app.command(short_help="What changed since the fixtures, and is it a change?")(drift)
