"""Ask a lake in SQL, and what can be asked: the tables and views there are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_lake import sqlassets
from dsh_lake.definitions import StoredTables
from dsh_lake.engine import fetch_rows
from dsh_lake.errors import UnknownQuery
from dsh_lake.readonly import read_rows
from dsh_lake.schemas import TABLES
from dsh_lake.views import connect_memory

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {"tables": "table", "views": "view", "checks": "check"}
"""The folders of query files that become tables and views of a lake, and what one of each is called."""


def sql(
    query: str,
    lake: str | os.PathLike[str] | None = None,
    *,
    as_of: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> pa.Table:
    """The rows of a query over all tables and views of a lake; nothing can be written by it.

    Args:
        query: one statement that gives rows, such as SELECT, FROM, PIVOT, DESCRIBE or EXPLAIN.
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.
        parameters: values for ``$name`` in the query.

    Returns:
        An Arrow table, held in memory as a whole; :func:`dsh_lake.readonly.read_rows` gives it in batches.
        Sums of whole numbers have the type decimal(38, 0).

    Raises:
        UsageError: the query is none that only reads.
        QueryFailed: the engine refused or failed it.
        LakeError: there is no lake, or no such scan.
    """
    with read_rows(query, lake, as_of=as_of, parameters=parameters) as rows:
        return rows.read_all()


def views() -> list[dict[str, Any]]:
    """What can be asked: tables first, then views, then checks, then what those are built from.

    Returns:
        One object each: ``name``, ``kind`` (``table``, ``view``, ``check``, or ``internal``: subject to
        change), ``doc`` (a sentence), ``grain`` (one row per what), ``needs`` (names it reads) and
        ``columns``, a list of ``name``, ``type`` (in DuckDB's words) and ``doc`` (null where the view's SQL
        says it all).
    """
    connection = connect_memory(StoredTables())
    try:
        columns = fetch_rows(
            connection,
            "select table_name, column_name, data_type from duckdb_columns() "
            "where schema_name = 'main' and not internal order by table_name, column_index",
        )
    finally:
        connection.close()
    described = [
        _description(query, [column for column in columns if column["table_name"] == query.name])
        for kind in KINDS
        for query in sqlassets.load(kind).values()
    ]
    order = (*KINDS.values(), "internal")
    return sorted(described, key=lambda one: (order.index(one["kind"]), one["name"]))


def view(name: str) -> dict[str, Any]:
    """One of :func:`views`, with its ``sql`` beside.

    Raises:
        UnknownQuery: there is none of that name.
    """
    found = [one for one in views() if one["name"] == name]
    if not found:
        raise UnknownQuery(f"no table or view is called {name!r}; `dsh-lake views` lists them")
    return {**found[0], "sql": sqlassets.find(name, KINDS).text}


def _description(query: sqlassets.Query, columns: list[dict[str, Any]]) -> dict[str, Any]:
    table = TABLES.get(query.name)
    docs = {column.name: column.doc for column in table.columns} if table else {}
    is_internal = query.kind == "tables" and table is None
    return {
        "name": query.name,
        "kind": "internal" if is_internal else KINDS[query.kind],
        "doc": query.doc,
        "grain": query.grain,
        "needs": list(query.needs),
        "columns": [
            {
                "name": column["column_name"],
                "type": column["data_type"],
                "doc": docs.get(column["column_name"]),
            }
            for column in columns
        ],
    }
