"""A DuckDB connection with every table and view of a lake; the one module that knows DuckDB.

The stored tables become views in the schema ``stored`` over their Parquet files; the tables that users
read (``queries/tables``) and the views (``queries/views``) are built on them. A table without files is a
typed query without rows, so every view exists in every lake.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb

from dsh_lake import sqlassets
from dsh_lake.errors import QueryFailed, UsageError
from dsh_lake.schemas import STORED, Table, duckdb_type

if TYPE_CHECKING:
    import pyarrow as pa

Connection = duckdb.DuckDBPyConnection
MEMORY_LIMIT = "384MB"


@dataclass(frozen=True, slots=True)
class StoredTables:
    """Where the rows of each stored table are: Parquet files, Arrow tables, or nowhere."""

    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    arrow: Mapping[str, pa.Table] = field(default_factory=dict)


def connect(stored: StoredTables, *, only_sources: Iterable[int] | None = None) -> Connection:
    """An in-memory DuckDB connection with all tables and views over the given rows.

    Args:
        stored: where the rows are.
        only_sources: restrict everything to files of these ``source_key`` numbers, as if the lake held
            no others; copies are then compared among these alone.
    """
    connection = duckdb.connect(config={"TimeZone": "UTC", "autoinstall_known_extensions": "false"})
    connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
    connection.execute("set enable_progress_bar = false")
    connection.execute("set preserve_insertion_order = false")
    _create_stored(connection, stored, only_sources)
    for query in _all_views():
        connection.execute(f'create view "{query.name}" as {query.text}')
    return connection


def write_catalog(path: str, stored: StoredTables) -> None:
    """A DuckDB file at ``path`` that holds all tables and views of the lake, for any DuckDB client."""
    with duckdb.connect(path, config={"TimeZone": "UTC"}) as connection:
        _create_stored(connection, stored, None)
        for query in _all_views():
            connection.execute(f'create view "{query.name}" as {query.text}')


def _all_views() -> list[sqlassets.Query]:
    return sqlassets.in_order([*sqlassets.load("tables").values(), *sqlassets.load("views").values()])


def _create_stored(
    connection: Connection, stored: StoredTables, only_sources: Iterable[int] | None
) -> None:
    connection.execute("create schema stored")
    for name, table in STORED.items():
        connection.execute(f"create view stored.{name} as {_stored_query(connection, table, stored, only_sources)}")


def _stored_query(
    connection: Connection, table: Table, stored: StoredTables, only_sources: Iterable[int] | None
) -> str:
    columns = ", ".join(f'"{column.name}"' for column in table.stored)
    if files := stored.files.get(table.name):
        listed = ", ".join(_quoted(file) for file in files)
        query = f"select {columns} from read_parquet([{listed}], union_by_name = true)"
    elif (rows := stored.arrow.get(table.name)) is not None:
        connection.register(f"arrow_{table.name}", rows)
        query = f"select {columns} from arrow_{table.name}"
    else:
        typed = ", ".join(f'null::{duckdb_type(column)} as "{column.name}"' for column in table.stored)
        return f"select {typed} where false"
    if table.name == "sources" and only_sources is not None:
        query += f" where source_key in ({', '.join(map(str, only_sources)) or 'null'})"
    return query


def _quoted(text: str) -> str:
    return "'" + os.fspath(text).replace("'", "''") + "'"


def run(connection: Connection, query: str, parameters: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyRelation:
    """The result of one query as a relation: ``.to_arrow_table()``, ``.fetchall()``, ``.pl()``.

    Raises:
        QueryFailed: the engine refused or failed it; the message is the engine's own.
    """
    try:
        relation = connection.sql(query, params=dict(parameters) if parameters else None)
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error
    if relation is None:
        raise UsageError("the statement gives no result")
    return relation


def fetch_table(connection: Connection, query: str) -> pa.Table:
    """The rows of a query as an Arrow table."""
    try:
        return run(connection, query).to_arrow_table()
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error


def fetch_rows(connection: Connection, query: str) -> list[dict[str, Any]]:
    """The rows of a query as dictionaries."""
    try:
        relation = run(connection, query)
        names = relation.columns
        return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error
