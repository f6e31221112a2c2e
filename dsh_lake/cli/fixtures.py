"""``dsh-lake fixtures ...``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.drift import drift
from dsh_lake.cli.findings import FixturesFormatOption, print_report
from dsh_lake.cli.narration import narration
from dsh_lake.cli.options import (
    DocumentFormat,
    DocumentFormatOption,
    OutputOption,
    QuietOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document

app = typer.Typer(name="fixtures", invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def fixtures(context: typer.Context) -> None:
    """Recorded sessions that are committed as fixtures: are they sound, and does a fresh run equal them?"""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(1)


@app.command(short_help="Is this fixture tree sound, and what is wrong with it?")
def check(
    tree: Annotated[
        Path,
        typer.Argument(
            metavar="TREE", show_default=False, help="The folder that holds acp, sdk, session and web."
        ),
    ],
    first: Annotated[
        bool, typer.Option("--first", help="Only the verdict of the original kit: the first failure.")
    ] = False,
    whole_corpus: Annotated[
        bool,
        typer.Option("--whole-corpus", help="Demand also that every older generation of logs is covered."),
    ] = False,
    registered: Annotated[
        Path | None,
        typer.Option(
            "--registered",
            metavar="FILE",
            show_default=False,
            help='JSON with the scenario names of suites that have a table: {"acp": ["text-turn", ...]}.',
        ),
    ] = None,
    output_format: FixturesFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Check manifests, roles and generations, redaction, sidecars and expected workspaces of every scenario.

    All that is wrong is told, in the order of the original kit's checks. Nothing is changed, run, or followed
    out of the tree.

    \b
    Examples:
      dsh-lake fixtures check snapshots
      dsh-lake fixtures check snapshots --first
      dsh-lake fixtures check snapshots --format sarif -o fixtures.sarif
    """
    from dsh_lake.cli import fixtures_text
    from dsh_lake.fixtures.guards import fixtures_check
    from dsh_lake.fixtures.suites import read_registered

    checked = fixtures_check(
        tree,
        first=first,
        registered=read_registered(registered) if registered is not None else None,
        is_whole_corpus=whole_corpus,
    )
    chosen = output_format.document if output_format is not None else None
    if output_format is not None and chosen is None:
        print_report(checked, output_format, output)
        return checked.exit_code

    def render(_: object, width: int | None) -> str:
        return fixtures_text.check_text(checked)

    print_document(checked.document(), chosen, output, render)
    return checked.exit_code


@app.command(short_help="What is left of a run's logs when it is compared?")
def normalize(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...",
            show_default=False,
            help="Session logs of one run: the parent, then its children by ordinal.",
        ),
    ],
    cwd: Annotated[
        str | None,
        typer.Option(
            "--cwd", metavar="PATH", show_default=False, help="Where the run worked. Default: what it says."
        ),
    ] = None,
    cwd_aliases: Annotated[
        list[str] | None,
        typer.Option(
            "--cwd-alias", metavar="PATH", show_default=False, help="Another spelling of it; may be repeated."
        ),
    ] = None,
    native_writer: Annotated[
        bool,
        typer.Option("--native-writer", help="Also hide which generation wrote a log, in delivery markers."),
    ] = False,
    output_format: DocumentFormatOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            show_default=False,
            help="Write session.jsonl, session.1.jsonl, ... into a folder; with --format json, a file.",
        ),
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Print the logs of a run as the original kit compares them.

    Brought to today's generation in memory, ids numbered by kind, clocks at zero, paths, prompts and tool
    schemas replaced by tokens. Two runs that did the same print the same. The files are never written.

    \b
    Examples:
      dsh-lake fixtures normalize session.v3.jsonl session.1.v3.jsonl
      dsh-lake fixtures normalize run/*/session.v4.jsonl.zstd --cwd /tmp/run -o normalized
    """
    from dsh_lake.cli.fixtures_text import logs_text, write_logs
    from dsh_lake.fixtures.log_files import fixtures_normalize

    document = fixtures_normalize(
        logs,
        cwd=cwd,
        cwd_aliases=cwd_aliases or (),
        native_writer=native_writer,
        on_warning=lambda text: narration.note(f"warning: {text}"),
    )
    if output is not None and output_format is not DocumentFormat.JSON and output.suffix != ".json":
        write_logs(document["logs"], output, logs)
    else:
        print_document(document, output_format, output, logs_text)


app.command(short_help="Does a fresh run still equal its fixture, and if not, what changed?")(drift)
