"""The queries of this package as views of an engine, over stored rows wherever these are.

The stored tables become views in the schema ``stored`` over their Parquet files; the tables that users
read (``queries/tables``), the views (``queries/views``), the checks (``queries/checks``, views too) and table
macros (``queries/macros``) are built on them, with aggregates (``queries/aggregates``: macros of one
expression) for sums that many views share. Nearly all of them ask first which files count: that is found
once and kept as a table (``KEPT``). Prices are no rows on disk but part of the definitions, as
``stored.prices``; a connection may be given others (:func:`set_prices`). A table without files is a
typed query without rows, so every view exists in every lake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dsh_lake import prices, sqlassets
from dsh_lake.engine import Connection, quoted
from dsh_lake.schemas import STORED, Table, duckdb_type

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("tables", "views", "checks", "macros")
"""Folders of the queries that become views and table macros."""
AGGREGATES = "aggregates"
"""Folder of the macros of one expression that these use."""
KEPT = "source_status"
"""The state of the files: no view but a table, filled anew when the files change. A view may join it dozens
of times, and an engine would plan and find it as often."""


@dataclass(frozen=True, slots=True)
class StoredTables:
    """Where the rows of each stored table are: Parquet files, Arrow tables, or nowhere."""

    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    arrow: Mapping[str, pa.Table] = field(default_factory=dict)


def all_views() -> list[sqlassets.Query]:
    """The queries of ``KINDS``, each after those it needs."""
    return sqlassets.in_order(query for kind in KINDS for query in sqlassets.load(kind).values())


def create_all(connection: Connection, stored: StoredTables) -> None:
    """Create all tables and views over the given rows.

    An engine that is told to create a view resolves all that it is made of, down to the files; told so
    for each of many views that build on each other, it does little else. So each is first given a stand-in
    of the right columns, then made in the order in which it sees only stand-ins, and the files come last.
    """
    create_stored(connection, StoredTables())
    queries = all_views()
    needed = {need for query in queries for need in query.needs}
    for query in queries:
        if query.kind == "macros":
            create_view(connection, query)
        elif query.name == KEPT:
            fill_kept(connection)
        elif query.name in needed:
            relation = connection.sql(query.text)
            typed = zip(relation.columns, relation.types, strict=True)
            columns = ", ".join(f'null::{column_type} as "{name}"' for name, column_type in typed)
            connection.execute(f'create view "{query.name}" as select {columns} where false')
    for query in reversed(queries):
        if query.kind != "macros" and query.name != KEPT:
            create_view(connection, query)
    for name, table in STORED.items():
        if name in stored.files or name in stored.arrow:
            query_text = stored_query(connection, table, stored)
            connection.execute(f"create or replace view stored.{name} as {query_text}")
    fill_kept(connection)


def fill_kept(connection: Connection) -> None:
    """Find the state of the files as ``stored.sources`` is now."""
    text = sqlassets.find(KEPT, KINDS).text
    connection.execute(f"create or replace table {KEPT} as {text}")


_LEADING_SELECT = re.compile(r"\A(?:--.*\n)*select\s", re.IGNORECASE)
"""What an aggregate's file has and its expression has not: header and SELECT."""
_TEXT, _INSTANT, _FIGURE = "VARCHAR", "TIMESTAMP WITH TIME ZONE", "DECIMAL(18,9)"
_PRICE_SHAPE: dict[str, Any] = {
    **dict.fromkeys(("price_id", "model", "priced_as", "currency"), _TEXT),
    **dict.fromkeys(("valid_from", "valid_to"), _INSTANT),
    **dict.fromkeys(("hours_utc", "days", "days_utc_offset"), _TEXT),
    "windows": [dict.fromkeys(("weekday", "from_minute", "to_minute"), "BIGINT")],
    **dict.fromkeys(("cache_read", "input", "cache_write", "output"), _FIGURE),
    "is_own": "BOOLEAN",
    **dict.fromkeys(("source", "remark"), _TEXT),
}
"""How the engine reads :func:`dsh_lake.prices.to_json`."""


def create_view(connection: Connection, query: sqlassets.Query) -> None:
    """Create one view or table macro over what is there."""
    if query.kind == "macros":
        parameters = ", ".join(query.params)
        connection.execute(f'create macro "{query.name}"({parameters}) as table {query.text}')
    else:
        connection.execute(f'create or replace view "{query.name}" as {query.text}')


def create_stored(connection: Connection, stored: StoredTables) -> None:
    """Create what all views are built on: the stored tables over the given rows, prices and aggregates."""
    for query in sqlassets.load(AGGREGATES).values():
        expression = _LEADING_SELECT.sub("", query.text)
        connection.execute(f'create macro "{query.name}"({", ".join(query.params)}) as ({expression})')
    connection.execute("create schema stored")
    create_prices(connection, prices.shipped())
    for name, table in STORED.items():
        connection.execute(f"create view stored.{name} as {stored_query(connection, table, stored)}")


def create_prices(connection: Connection, price_rows: Iterable[prices.Price]) -> None:
    """Create ``stored.prices`` of these rows; the variable ``price_rows`` overrules them."""
    text = f"coalesce(getvariable('price_rows')::varchar, {quoted(prices.to_json(price_rows))})"
    query = f"select unnest(from_json({text}, {quoted(json.dumps([_PRICE_SHAPE]))}), max_depth := 2)"
    connection.execute(f"create or replace view stored.prices as {query}")


def stored_query(connection: Connection, table: Table, stored: StoredTables) -> str:
    """The query of a stored table: its stored columns, and no rows where ``stored`` has none."""
    columns = ", ".join(f'"{column.name}"' for column in table.stored)
    if files := stored.files.get(table.name):
        listed = ", ".join(quoted(file) for file in files)
        query = f"select {columns} from read_parquet([{listed}], union_by_name = true)"
    elif (rows := stored.arrow.get(table.name)) is not None:
        connection.register(f"arrow_{table.name}", rows)
        query = f"select {columns} from arrow_{table.name}"
    else:
        typed = ", ".join(f'null::{duckdb_type(column)} as "{column.name}"' for column in table.stored)
        return f"select {typed} where false"
    if table.name == "sources":
        # Unset, and so null, unless a summary asks for some files only; see `restrict`.
        query += (
            " where getvariable('only_sources') is null"
            " or source_key in (select unnest(getvariable('only_sources')::bigint[]))"
        )
    return query


def restrict(connection: Connection, source_keys: Iterable[int] | None) -> None:
    """Show only rows of these files, as if the lake held no others; copies compete among these alone.
    With None everything is shown again."""
    if source_keys is None:
        connection.execute("reset variable only_sources")
    else:
        connection.execute(f"set variable only_sources = {list(source_keys)}::bigint[]")


def set_prices(connection: Connection, price_rows: Iterable[prices.Price]) -> None:
    """Price calls by these rows, in place of those that the catalog was made with."""
    connection.execute(f"set variable price_rows = {quoted(prices.to_json(price_rows))}")
