"""``dsh-lake sql``, ``sessions`` and ``views``: questions, and what can be asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.options import (
    AsOfOption,
    DocumentFormatOption,
    LakeOption,
    LimitOption,
    OutputOption,
    QuietOption,
    RowFormatOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document, row_format
from dsh_lake.errors import UsageError


def sql(
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", show_default=False, help="One SQL query. Default: what stdin says."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("-f", "--file", metavar="FILE", show_default=False, help="Take the query from a file."),
    ] = None,
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    limit: LimitOption = None,
    output_format: RowFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Answer a question in SQL (DuckDB's) over all tables and views.

    Queries only ever read. `dsh-lake views` says what tables and views there are, and
    `dsh-lake sql 'describe usage'` what columns one has.

    \b
    Examples:
      dsh-lake sql 'from usage_by_model'
      dsh-lake sql 'select title, turns from session_summary order by turns desc limit 5'
      dsh-lake sql -f question.sql --format csv -o answer.csv
    """
    from dsh_lake.cli.rows import plain_columns, print_result
    from dsh_lake.readonly import read_rows

    chosen = row_format(output_format, output)
    with read_rows(_query_text(query, file), lake, as_of=as_of) as rows:
        print_result(rows, chosen, output, limit, table_limit=100, columns=plain_columns)


def _query_text(query: str | None, file: Path | None) -> str:
    if query is not None and file is not None:
        raise UsageError("give the query or -f FILE, not both")
    if file is not None:
        return file.read_text("utf-8-sig")
    if query is not None:
        return query
    if sys.stdin.isatty():
        raise UsageError("give a query, -f FILE, or a query on stdin")
    return sys.stdin.read()


def sessions(
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    limit: LimitOption = None,
    output_format: RowFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List the sessions, newest first: what was done in each, with which model, how much it took.

    Sub-agents are sessions of their own. tools are tool calls, errors those that failed; tokens are all that
    was billed, cache reads included.

    \b
    Examples:
      dsh-lake sessions
      dsh-lake sessions --limit 0 --format csv -o sessions.csv
    """
    from dsh_lake.cli.rows import print_result
    from dsh_lake.cli.session_text import session_columns
    from dsh_lake.sessions import sessions as list_sessions

    chosen = row_format(output_format, output)
    rows = list_sessions(lake, as_of=as_of)
    print_result(
        rows.to_reader(),
        chosen,
        output,
        limit,
        table_limit=50,
        columns=session_columns,
        total=rows.num_rows,
    )


def views(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", show_default=False, help="Show this one, with its columns and its SQL."
        ),
    ] = None,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Say what can be asked: the tables and views, what a row of each is, and their columns.

    Needs no lake: every lake has the same tables and views.

    \b
    Examples:
      dsh-lake views
      dsh-lake views tool_health
    """
    from dsh_lake.cli.views_text import view_text, views_text
    from dsh_lake.query import view
    from dsh_lake.query import views as all_views

    if name is not None:
        print_document(view(name), output_format, output, view_text)
    else:
        print_document(all_views(), output_format, output, views_text)
