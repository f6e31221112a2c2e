"""The commands, in the order in which a newcomer needs them."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_lake.cli import (
    baseline,
    cassette,
    check,
    export,
    fixtures,
    lake,
    query,
    reconcile,
    redact_check,
    report,
    scan,
    show,
)
from dsh_lake.version import __version__

app = typer.Typer(
    name="dsh-lake",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dsh-lake {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What DeepSeek Harness (dsh) agents did, what it cost, what broke.

    dsh-lake reads the session archives of a DSH home into a lake, a folder of tables on your disk, and
    answers questions about them in SQL. It only ever reads the archives.

    \b
    Begin with:
      dsh-lake scan                     read ~/.dsh and print what is in there
      dsh-lake sessions                 the sessions, newest first
      dsh-lake sql 'from usage_by_day'  any question, in SQL
      dsh-lake views                    what can be asked

    Exit codes: 0 clean; 2 findings, where a command says so; 1 could not do its work; 130
    interrupted; 143 terminated.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command, answer in (
    (scan.scan, "What is in my archives? Reads them into the lake."),
    (query.sessions, "Which sessions are there? Newest first."),
    (show.show, "What does this record say, and where exactly is it?"),
    (query.sql, "Any question, in SQL."),
    (query.views, "What tables and views are there to be asked?"),
    (baseline.baseline, "How much, how fast, how often failed, and what moved since?"),
    (check.check, "Is anything wrong with what was scanned?"),
    (redact_check.redact_check, "Are there secrets in what was scanned, and where?"),
    (reconcile.reconcile, "Do my totals agree with the provider's, or with DSH's own?"),
    (export.export, "Rows for other tools, or a lake to be shared."),
    (lake.doctor, "What is installed, and is the lake sound?"),
    (lake.compact, "Make the lake smaller and faster."),
):
    app.command(short_help=answer)(command)

app.add_typer(report.app, short_help="Pages to look at: what was used, what it cost, which tools fail.")
app.add_typer(cassette.app, short_help="Recorded sub-agent calls: verify, inspect, compare, match.")
app.add_typer(fixtures.app, short_help="Committed recordings of sessions: is the tree sound?")
