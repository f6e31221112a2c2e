"""Tables and views over rows of one's own: a lake's files, one file's rows, or rows that are in no lake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dsh_lake import sqlassets
from dsh_lake.definitions import (
    KEPT,
    StoredTables,
    all_views,
    create_all,
    create_stored,
    create_view,
    fill_kept,
    restrict,
)
from dsh_lake.engine import Connection, fetch_rows, fetch_table, keep, open_engine
from dsh_lake.schemas import STORED, stored_schema

if TYPE_CHECKING:
    import pyarrow as pa

_WITHOUT_CASSETTES = {"findings": "session_findings"}
"""What is left of a table when there can be no cassettes."""


def connect_memory(stored: StoredTables) -> Connection:
    """An in-memory connection with all tables and views over the given rows."""
    connection = open_engine(":memory:", read_only=False)
    create_all(connection, stored)
    return connection


class _OwnTables:
    """Stored rows on a connection of their own."""

    def __init__(self, stored: StoredTables) -> None:
        self.connection = open_engine(":memory:", read_only=False)
        create_stored(self.connection, stored)
        fill_kept(self.connection)

    def restrict(self, source_keys: Iterable[int] | None) -> None:
        """See :func:`restrict`."""
        restrict(self.connection, source_keys)
        fill_kept(self.connection)


class RuleTables:
    """The queries of one folder over rows in memory that are no part of a lake.

    Args:
        kind: the folder of query files.
        schemas: the tables that they read, by name; each is ``<kind>.<name>``, and empty at first.
    """

    def __init__(self, kind: str, schemas: Mapping[str, pa.Schema]) -> None:
        self.connection = open_engine(":memory:", read_only=False)
        self.connection.execute(f"create schema {kind}")
        for name, schema in schemas.items():
            self.put(name, schema.empty_table())
            self.connection.execute(f"create view {kind}.{name} as from arrow_{name}")
        for query in sqlassets.in_order(sqlassets.load(kind).values()):
            create_view(self.connection, query)

    def put(self, name: str, rows: pa.Table) -> None:
        """Show these rows as a table."""
        self.connection.register(f"arrow_{name}", rows)

    def keep(self, name: str) -> None:
        """See :func:`keep`."""
        keep(self.connection, name)

    def fetch(self, query: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return fetch_table(self.connection, query)


class PreparedTables(_OwnTables):
    """Some tables and views over stored rows, quick to ask often.

    Args:
        stored: where the rows are.
        names: the tables and views that will be asked.
        with_cassettes: whether there are cassettes; without them their checks are left out of findings.
    """

    def __init__(self, stored: StoredTables, names: Iterable[str], *, with_cassettes: bool) -> None:
        super().__init__(stored)
        shorter = {} if with_cassettes else _WITHOUT_CASSETTES
        for query in _with_needs([*names, *shorter.values()], shorter):
            if query.name in shorter:
                self.connection.execute(f"create view {query.name} as from {shorter[query.name]}")
            else:
                create_view(self.connection, query)


class ComposedViews(_OwnTables):
    """Views over stored rows, each asked once or twice: they become part of the query that asks, since to
    create them all takes an engine longer than to answer.

    Args:
        stored: where the rows are.
        with_cassettes: whether there are cassettes; without them their checks are left out of findings.
    """

    def __init__(self, stored: StoredTables, *, with_cassettes: bool) -> None:
        super().__init__(stored)
        self._shorter = {} if with_cassettes else _WITHOUT_CASSETTES

    def fetch(self, name: str, columns: str = "*", rest: str = "") -> list[dict[str, Any]]:
        """The rows of a table or view; ``columns`` is what to select, ``rest`` what follows its name."""
        name = self._shorter.get(name, name)
        parts = ", ".join(f'"{query.name}" as ({query.text}\n)' for query in _with_needs([name], {}))
        return fetch_rows(self.connection, f'with {parts} select {columns} from "{name}" {rest}')


class SessionTables(PreparedTables):
    """The tables of one file at a time, from rows in memory, prepared once for many files."""

    def __init__(self) -> None:
        names = sqlassets.load("tables")
        super().__init__(StoredTables(arrow=_no_rows()), names, with_cassettes=False)

    def put(self, rows: Mapping[str, pa.Table] | None) -> None:
        """Show these stored rows, or none, in place of those before."""
        for name, table in (rows or _no_rows()).items():
            self.connection.register(f"arrow_{name}", table)
        fill_kept(self.connection)

    def fetch(self, query: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return fetch_table(self.connection, query)


def _with_needs(names: Iterable[str], without: Mapping[str, str]) -> list[sqlassets.Query]:
    """The named queries and all that they need beyond the state of the files, in order; the needs of
    ``without`` are not followed."""
    known = {query.name: query for query in all_views()}
    found: dict[str, sqlassets.Query] = {}
    queue = list(names)
    while queue:
        name = queue.pop()
        if name in known and name not in found and name != KEPT:
            found[name] = known[name]
            queue += [] if name in without else known[name].needs
    return sqlassets.in_order(found.values())


def _no_rows() -> dict[str, pa.Table]:
    return {name: stored_schema(name).empty_table() for name in STORED}
