"""Query files keep their contract: one SELECT each, a header true to the text, columns as declared.

The text is read by sqlglot, a parser that the package does not use: at run time the header alone is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.tokens import TokenType

from dsh_lake import sqlassets
from dsh_lake.definitions import StoredTables
from dsh_lake.drift.comparison import SCHEMAS
from dsh_lake.engine import Connection
from dsh_lake.query import KINDS
from dsh_lake.schemas import STORED, TABLES, duckdb_type
from dsh_lake.sqlassets import Query
from dsh_lake.views import connect_memory

FOLDERS = (*KINDS, "macros", "aggregates", "drift", "redaction", "reports")
QUERIES = [query for folder in FOLDERS for query in sqlassets.load(folder).values()]
VIEWS = [query for query in QUERIES if query.kind in KINDS]
MACROS = sqlassets.load("macros")
CHECKS = list(sqlassets.load("checks").values())
WIDE = {"lake_summary", "price_times", "priced_usage", "activity", "baseline_activity"}
"""Queries with numbers of more than 64 bits: totals that are told in JSON, exact however absurd the counts,
and the exact prices and amounts that costs are summed from."""
SHIPPED = {"prices", "price_times"}
"""Tables whose rows come with the package."""
RESTRICTION = "only_sources"
"""The variable that the stored tables themselves read; see ``definitions.restrict``."""

_each = pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    with connect_memory(StoredTables()) as empty:
        yield empty


def described(connection: Connection, name: str) -> list[tuple[str, str]]:
    """Names and types of the columns of a view, in order."""
    return [(row[0], row[1]) for row in connection.execute(f'describe from "{name}"').fetchall()]


@cache
def parsed(query: Query) -> exp.Query:
    """The one statement of a query file."""
    (statement,) = sqlglot.parse(query.text, dialect="duckdb")
    assert isinstance(statement, exp.Query), "the statement is no bare SELECT"
    return statement


def tables_read(query: Query) -> set[str]:
    """The tables, views and macros that a text reads; its own common table expressions are none."""
    sources = [
        source for scope in traverse_scope(parsed(query)) for _, source in scope.selected_sources.values()
    ]
    tables = [source for source in sources if isinstance(source, exp.Table)]
    called = {table.this.name for table in tables if isinstance(table.this, exp.Func)} & MACROS.keys()
    named = [table for table in tables if isinstance(table.this, exp.Identifier)]
    return called | {f"{table.db}.{table.name}" if table.db else table.name for table in named}


def variables_read(query: Query) -> set[str]:
    """The names given to ``getvariable`` and ``$parameters``; of a macro, its own that it uses."""
    statement = parsed(query)
    calls = [call for call in statement.find_all(exp.Anonymous) if call.name.lower() == "getvariable"]
    names = {call.expressions[0].name for call in calls}
    names |= {parameter.name for parameter in statement.find_all(exp.Parameter, exp.Placeholder)}
    if query.kind in ("macros", "aggregates"):
        used = {column.table or column.name for column in statement.find_all(exp.Column)}
        names |= used & set(query.params)
    return names


# -- the text ----------------------------------------------------------------------------------------------


def test_all_folders_are_known() -> None:
    folders = {entry.name for entry in sqlassets.root().iterdir() if entry.is_dir()}
    assert folders == set(FOLDERS)


def test_a_name_stands_for_one_query() -> None:
    names = [query.name for query in QUERIES]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in names)


@_each
def test_it_is_one_bare_select(query: Query) -> None:
    assert parsed(query)
    tokens = sqlglot.tokenize(query.text, dialect="duckdb")
    assert all(token.token_type is not TokenType.SEMICOLON for token in tokens), "it becomes part of another"
    assert query.text.endswith("\n")


# -- the header --------------------------------------------------------------------------------------------


@_each
def test_it_says_what_it_answers_and_what_a_row_is(query: Query) -> None:
    assert re.fullmatch(r"[A-Z].*\.", query.doc), "doc is a sentence"
    assert query.grain.startswith("one row"), "grain says what a row is"
    assert query.severity in (("fail", "warn") if query.kind == "checks" else ("",))


@_each
def test_it_names_what_it_reads(query: Query) -> None:
    assert sorted(query.needs) == sorted(tables_read(query))
    known = {other.name for other in QUERIES} | {f"stored.{name}" for name in (*STORED, "prices")}
    known |= {f"drift.{name}" for name in SCHEMAS} | {"free_texts"}
    assert set(query.needs) <= known - {query.name}


@_each
def test_it_names_the_parameters_it_takes(query: Query) -> None:
    assert sorted(query.params) == sorted(variables_read(query))


def test_no_query_takes_part_in_the_restriction_by_itself() -> None:
    """Which files are shown is decided in one place, so that every view shows the same ones; only titles,
    which are content and so not kept there, come from beside it."""
    asking = {query.name: query for query in QUERIES if "stored.sources" in query.needs}
    assert [*asking] == ["sessions", "source_status"]
    assert "source_status" in asking["sessions"].needs
    assert [query.name for query in QUERIES if RESTRICTION in query.params] == []


# -- the columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", VIEWS, ids=lambda query: query.name)
def test_it_exists_in_an_empty_lake(query: Query, connection: Connection) -> None:
    columns = described(connection, query.name)
    names = [name for name, _ in columns]
    assert len(set(names)) == len(names)
    assert not [name for name, kind in columns if "NULL" in kind], "every column has a type"
    wide = [name for name, kind in columns if re.search("HUGEINT|DECIMAL", kind)]
    assert not wide or query.name in WIDE, "sums of whole numbers are bigint, which every reader has"
    rows = connection.execute(f'select count(*) from "{query.name}"').fetchone()
    assert rows is not None
    assert rows[0] > 0 if query.name in SHIPPED else rows == (1 if query.grain == "one row" else 0,)


@pytest.mark.parametrize("query", MACROS.values(), ids=lambda query: query.name)
def test_a_macro_can_be_called_in_an_empty_lake(query: Query, connection: Connection) -> None:
    nulls = ", ".join("null" for _ in query.params)
    rows = connection.execute(f'from "{query.name}"({nulls})').fetchall()
    assert {value for row in rows for value in row} <= {None}
    assert len(rows) == (1 if query.grain == "one row" else 0)


@pytest.mark.parametrize("query", CHECKS, ids=lambda query: query.name)
def test_findings_of_all_checks_begin_alike(query: Query, connection: Connection) -> None:
    leading = ["subject_kind", "subject_id", "path", "position", "message"]
    assert [name for name, _ in described(connection, query.name)][:5] == leading


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_what_its_declaration_says(name: str, connection: Connection) -> None:
    table, query = TABLES[name], sqlassets.find(name, ["tables"])
    declared = [(column.name, duckdb_type(column)) for column in table.columns]
    assert described(connection, name) == declared
    assert (query.doc, query.grain) == (table.doc, table.grain)
    assert set(table.key) <= {column.name for column in table.columns}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_table_is_typed_where_there_are_no_files(name: str, connection: Connection) -> None:
    declared = [(column.name, duckdb_type(column)) for column in STORED[name].stored]
    rows = connection.execute(f"describe from stored.{name}").fetchall()
    assert [(row[0], row[1]) for row in rows] == declared
