"""DuckDB connections with every table and view of a lake; the one module that knows DuckDB.

The stored tables become views in the schema ``stored`` over their Parquet files; the tables that users
read (``queries/tables``), the views (``queries/views``), the checks (``queries/checks``, views too) and table
macros (``queries/macros``) are built on them, with aggregates (``queries/aggregates``: macros of one
expression) for sums that many views share. Prices are no rows on disk but part of the catalog, as
``stored.prices``; a connection may be given others (:func:`set_prices`). A table without files is a
typed query without rows, so every view exists in every lake. All of them lie in a DuckDB file, the
*catalog* of a scan, which holds no rows: a reader opens it and sees that scan, whatever is written since.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from platformdirs import user_cache_path

from dsh_lake import prices, sqlassets
from dsh_lake.errors import BadPrices, QueryFailed, UsageError
from dsh_lake.schemas import STORED, Table, duckdb_type, stored_schema

if TYPE_CHECKING:
    import pyarrow as pa

Connection = duckdb.DuckDBPyConnection
SCAN_MEMORY = "384MB"
"""What the engine may hold while a scan or another command works for itself."""
QUERY_MEMORY = "1500MB"
"""What it may hold for questions to a whole lake; what does not fit goes to disk."""


@dataclass(frozen=True, slots=True)
class StoredTables:
    """Where the rows of each stored table are: Parquet files, Arrow tables, or nowhere."""

    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    arrow: Mapping[str, pa.Table] = field(default_factory=dict)


# -- connections -------------------------------------------------------------------------------------------


def connect_memory(stored: StoredTables) -> Connection:
    """An in-memory connection with all tables and views over the given rows."""
    connection = _open(":memory:", read_only=False)
    _create_all(connection, stored)
    return connection


_ASKED_FIRST = "source_status"
"""What nearly every view asks first: the state of the files."""
_WITHOUT_CASSETTES = {"findings": "session_findings"}
"""What is left of a table when there can be no cassettes."""


class _OwnTables:
    """Stored rows on a connection of their own, the state of the files found once and kept as a table."""

    def __init__(self, stored: StoredTables) -> None:
        self.connection = _open(":memory:", read_only=False)
        _create_stored(self.connection, stored)
        text = sqlassets.find(_ASKED_FIRST, _KINDS).text
        self._fill = f"insert into {_ASKED_FIRST} {text}"
        self.connection.execute(f"create table {_ASKED_FIRST} as {text}")

    def restrict(self, source_keys: Iterable[int] | None) -> None:
        """See :func:`restrict`."""
        restrict(self.connection, source_keys)
        self._find_state()

    def _find_state(self) -> None:
        self.connection.execute(f"delete from {_ASKED_FIRST}")
        self.connection.execute(self._fill)


class RuleTables:
    """The queries of one folder over rows in memory that are no part of a lake.

    Args:
        kind: the folder of query files.
        schemas: the tables that they read, by name; each is ``<kind>.<name>``, and empty at first.
    """

    def __init__(self, kind: str, schemas: Mapping[str, pa.Schema]) -> None:
        self.connection = _open(":memory:", read_only=False)
        self.connection.execute(f"create schema {kind}")
        for name, schema in schemas.items():
            self.put(name, schema.empty_table())
            self.connection.execute(f"create view {kind}.{name} as from arrow_{name}")
        for query in sqlassets.in_order(sqlassets.load(kind).values()):
            _create_view(self.connection, query)

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
                _create_view(self.connection, query)


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
        self._find_state()

    def fetch(self, query: str) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return fetch_table(self.connection, query)


def _with_needs(names: Iterable[str], without: Mapping[str, str]) -> list[sqlassets.Query]:
    """The named queries and all that they need beyond the state of the files, in order; the needs of
    ``without`` are not followed."""
    known = {query.name: query for query in _all_views()}
    found: dict[str, sqlassets.Query] = {}
    queue = list(names)
    while queue:
        name = queue.pop()
        if name in known and name not in found and name != _ASKED_FIRST:
            found[name] = known[name]
            queue += [] if name in without else known[name].needs
    return sqlassets.in_order(found.values())


def _no_rows() -> dict[str, pa.Table]:
    return {name: stored_schema(name).empty_table() for name in STORED}


def connect_catalog(path: str | os.PathLike[str]) -> Connection:
    """A read-only connection to a catalog file."""
    return _open(os.fspath(path), read_only=True, memory=QUERY_MEMORY)


def connect_attached(path: str | os.PathLike[str]) -> Connection:
    """A catalog file, read-only, in an engine of its own: connections to one file share an engine within a
    process, and what is set or locked in it."""
    connection = _open(":memory:", read_only=False, memory=QUERY_MEMORY)
    try:
        connection.execute(f"attach {_quoted(os.fspath(path))} as lake (read_only)")
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error
    connection.execute("use lake")
    return connection


@cache
def _spill_folder() -> str:
    """Where engines without a file of their own to write put what does not fit into memory: for this process
    alone, readable by its owner alone, and gone with it. The disk of a lake may be read only."""
    folder = tempfile.mkdtemp(prefix="dsh-lake-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _open(path: str, *, read_only: bool, memory: str = SCAN_MEMORY) -> Connection:
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "memory_limit": memory,
    }
    if read_only or path == ":memory:":
        config["temp_directory"] = _spill_folder()
    try:
        connection = duckdb.connect(path, read_only=read_only, config=config)
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error
    # Part files never change, and a view may name one dozens of times.
    connection.execute("set parquet_metadata_cache = true")
    # Days are the reader's days, instants are shown in UTC.
    connection.execute("set variable time_zone = current_setting('TimeZone')")
    connection.execute("set TimeZone = 'UTC'")
    # In Jupyter without ipywidgets there is no progress bar, nor this setting.
    with suppress(duckdb.InvalidInputException):
        connection.execute("set enable_progress_bar = false")
    return connection


def confine(connection: Connection, folder: str | os.PathLike[str]) -> None:
    """Let a connection read files below ``folder`` and nothing else; this cannot be taken back."""
    connection.execute(f"set allowed_directories = [{_quoted(os.fspath(folder) + os.sep)}]")
    connection.execute("set autoload_known_extensions = false")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def restrict(connection: Connection, source_keys: Iterable[int] | None) -> None:
    """Show only rows of these files, as if the lake held no others; copies compete among these alone.
    With None everything is shown again."""
    if source_keys is None:
        connection.execute("reset variable only_sources")
    else:
        connection.execute(f"set variable only_sources = {list(source_keys)}::bigint[]")


def keep(connection: Connection, name: str) -> None:
    """Work a view out once: on this connection those that read it read its rows from now on."""
    try:
        connection.execute(f"create temporary table {name} as from main.{name}")
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error


def set_prices(connection: Connection, price_rows: Iterable[prices.Price]) -> None:
    """Price calls by these rows, in place of those that the catalog was made with."""
    connection.execute(f"set variable price_rows = {_quoted(prices.to_json(price_rows))}")


# -- the catalog -------------------------------------------------------------------------------------------


def assets_digest() -> str:
    """A digest of all query files that a catalog is made of, and of the stored schemas."""
    digest = hashlib.sha256()
    for query in [*sqlassets.load(_AGGREGATES).values(), *_all_views()]:
        digest.update(f"{query.name}\0{query.text}\0".encode())
    digest.update(prices.to_json(prices.shipped()).encode())
    digest.update(repr([(name, table.stored_names) for name, table in STORED.items()]).encode())
    return digest.hexdigest()


class CatalogBuilder:
    """A catalog in the making: a file beside its future name, open for queries while it is made.

    Args:
        path: where the catalog will be, in the folder of its lake, whose prices become part of it.
        files: the Parquet files of every stored table.
        previous: an earlier catalog; what is the same in it is not made again.
    """

    def __init__(self, path: Path, files: Mapping[str, Sequence[str]], previous: Path | None = None) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._unfinished.unlink(missing_ok=True)
        digest = assets_digest()
        before = _catalog_info(previous) if previous is not None else {}
        self.is_copy = previous is not None and before.get("assets") == digest
        known = before["files"] if self.is_copy else {}
        if previous is not None and self.is_copy:
            shutil.copyfile(previous, self._unfinished)
        else:
            _copy_template(digest, self._unfinished)
        self.connection = _open(str(self._unfinished), read_only=False)
        self._replace(files, known)
        self._keep_prices()
        self._files = dict(files)
        self._assets = digest

    def _keep_prices(self) -> None:
        """Let clients that know nothing of this package price calls as it does."""
        try:
            price_rows = prices.of_lake(self._path.parent)
        except BadPrices:
            # No reason to fail a scan: every connection of this package says which line is to be mended.
            price_rows = prices.shipped()
        _create_prices(self.connection, price_rows)

    def _replace(self, files: Mapping[str, Sequence[str]], before: Mapping[str, Sequence[str]]) -> None:
        for name in STORED:
            if list(files.get(name, ())) != list(before.get(name, ())):
                query = _stored_query(self.connection, STORED[name], StoredTables(files))
                self.connection.execute(f"create or replace view stored.{name} as {query}")

    def finish(self, files: Mapping[str, Sequence[str]], about: Mapping[str, Any]) -> None:
        """Close the catalog over ``files`` and put it in its place; ``about`` is kept in it."""
        self._replace(files, self._files)
        info = {
            **about,
            "assets": self._assets,
            "files": {name: list(paths) for name, paths in files.items()},
        }
        query = f"select {_quoted(json.dumps(info))} as info"
        self.connection.execute(f"create or replace view stored.catalog_info as {query}")
        self.connection.close()
        self._unfinished.chmod(0o600)
        self._unfinished.replace(self._path)

    def abandon(self) -> None:
        """Close and remove what was made."""
        self.connection.close()
        self._unfinished.unlink(missing_ok=True)


def _copy_template(assets: str, path: Path) -> None:
    """Put a catalog over no files at ``path``: to make one takes as long as to copy hundreds, so one is kept
    among the user's caches for each engine and set of query files."""
    folder = user_cache_path("dsh-lake", appauthor=False)
    template = folder / f"catalog-{duckdb.__version__}-{assets}.duckdb"
    with suppress(OSError):
        shutil.copyfile(template, path)
        return
    with _open(os.fspath(path), read_only=False) as connection:
        _create_all(connection, StoredTables())
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = folder / f".{template.name}.{os.getpid()}.tmp"
        shutil.copyfile(path, unfinished)
        unfinished.replace(template)
        _remove_others(template)


def _remove_others(template: Path) -> None:
    """Templates of earlier versions of the query files are of no use any more."""
    for path in template.parent.glob("catalog-*.duckdb"):
        if path != template:
            path.unlink(missing_ok=True)


def _catalog_info(path: Path) -> dict[str, Any]:
    """What a catalog file says of itself; empty when it cannot be read."""
    try:
        with duckdb.connect(os.fspath(path), read_only=True) as connection:
            return read_info(connection)
    except duckdb.Error:
        return {}


def read_info(connection: Connection) -> dict[str, Any]:
    """What the open catalog says of itself: ``scan_id``, ``lake``, ``files`` and so on."""
    ((text,),) = connection.execute("select info from stored.catalog_info").fetchall()
    info: dict[str, Any] = json.loads(text)
    return info


_KINDS = ("tables", "views", "checks", "macros")
_AGGREGATES = "aggregates"


def _all_views() -> list[sqlassets.Query]:
    return sqlassets.in_order(query for kind in _KINDS for query in sqlassets.load(kind).values())


def _create_all(connection: Connection, stored: StoredTables) -> None:
    """Create all tables and views over the given rows.

    An engine that is told to create a view resolves all that it is made of, down to the files; told so
    for each of many views that build on each other, it does little else. So each is first given a stand-in
    of the right columns, then made in the order in which it sees only stand-ins, and the files come last.
    """
    _create_stored(connection, StoredTables())
    queries = _all_views()
    needed = {need for query in queries for need in query.needs}
    for query in queries:
        if query.kind == "macros":
            _create_view(connection, query)
        elif query.name in needed:
            relation = connection.sql(query.text)
            typed = zip(relation.columns, relation.types, strict=True)
            columns = ", ".join(f'null::{column_type} as "{name}"' for name, column_type in typed)
            connection.execute(f'create view "{query.name}" as select {columns} where false')
    for query in reversed(queries):
        if query.kind != "macros":
            _create_view(connection, query)
    for name, table in STORED.items():
        if name in stored.files or name in stored.arrow:
            query_text = _stored_query(connection, table, stored)
            connection.execute(f"create or replace view stored.{name} as {query_text}")


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


def _create_view(connection: Connection, query: sqlassets.Query) -> None:
    if query.kind == "macros":
        parameters = ", ".join(query.params)
        connection.execute(f'create macro "{query.name}"({parameters}) as table {query.text}')
    else:
        connection.execute(f'create or replace view "{query.name}" as {query.text}')


def _create_stored(connection: Connection, stored: StoredTables) -> None:
    for query in sqlassets.load(_AGGREGATES).values():
        expression = _LEADING_SELECT.sub("", query.text)
        connection.execute(f'create macro "{query.name}"({", ".join(query.params)}) as ({expression})')
    connection.execute("create schema stored")
    _create_prices(connection, prices.shipped())
    for name, table in STORED.items():
        connection.execute(f"create view stored.{name} as {_stored_query(connection, table, stored)}")


def _create_prices(connection: Connection, price_rows: Iterable[prices.Price]) -> None:
    text = f"coalesce(getvariable('price_rows')::varchar, {_quoted(prices.to_json(price_rows))})"
    query = f"select unnest(from_json({text}, {_quoted(json.dumps([_PRICE_SHAPE]))}), max_depth := 2)"
    connection.execute(f"create or replace view stored.prices as {query}")


def _stored_query(connection: Connection, table: Table, stored: StoredTables) -> str:
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
    if table.name == "sources":
        # Unset, and so null, unless a summary asks for some files only; see `restrict`.
        query += (
            " where getvariable('only_sources') is null"
            " or source_key in (select unnest(getvariable('only_sources')::bigint[]))"
        )
    return query


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# -- queries -----------------------------------------------------------------------------------------------


def run(
    connection: Connection, query: str, parameters: Mapping[str, Any] | None = None
) -> duckdb.DuckDBPyRelation:
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


def fetch_rows(
    connection: Connection, query: str, parameters: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The rows of a query as dictionaries."""
    try:
        relation = run(connection, query, parameters)
        names = relation.columns
        return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error
