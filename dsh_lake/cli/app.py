"""The commands, in the order in which a newcomer needs them."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_lake import __version__
from dsh_lake.cli import query, scan

app = typer.Typer(
    name="dsh-lake",
    no_args_is_help=True,
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

    Exit codes: 0 clean; 2 findings, where a command says so; 1 could not do its work; 130 interrupted.
    """


app.command()(scan.scan)
app.command()(query.sessions)
app.command()(query.sql)
app.command()(query.views)
