"""The DuckDB engine: connections, what they may hold and reach, and the rows of queries."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from dsh_lake.errors import QueryFailed, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

Connection = duckdb.DuckDBPyConnection
ENGINE_VERSION: str = duckdb.__version__
SCAN_MEMORY = "384MB"
"""What the engine may hold while a scan or another command works for itself."""
QUERY_MEMORY = "1500MB"
"""What it may hold for questions to a whole lake; what does not fit goes to disk."""


def open_engine(path: str, *, read_only: bool, memory: str = SCAN_MEMORY) -> Connection:
    """A connection to a database file or to memory, set as the queries of this package expect it.

    Raises:
        QueryFailed: the file cannot be opened, or is no database; the message is the engine's own.
    """
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


@cache
def _spill_folder() -> str:
    """Where engines without a file of their own to write put what does not fit into memory: for this process
    alone, readable by its owner alone, and gone with it. The disk of a lake may be read only."""
    folder = tempfile.mkdtemp(prefix="dsh-lake-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def connect_catalog(path: str | os.PathLike[str]) -> Connection:
    """A read-only connection to a catalog file."""
    return open_engine(os.fspath(path), read_only=True, memory=QUERY_MEMORY)


def connect_attached(path: str | os.PathLike[str]) -> Connection:
    """A catalog file, read-only, in an engine of its own: connections to one file share an engine within a
    process, and what is set or locked in it."""
    connection = open_engine(":memory:", read_only=False, memory=QUERY_MEMORY)
    try:
        connection.execute(f"attach {quoted(os.fspath(path))} as lake (read_only)")
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error
    connection.execute("use lake")
    return connection


def confine(connection: Connection, folder: str | os.PathLike[str]) -> None:
    """Let a connection read files below ``folder`` and nothing else; this cannot be taken back."""
    connection.execute(f"set allowed_directories = [{quoted(os.fspath(folder) + os.sep)}]")
    connection.execute("set autoload_known_extensions = false")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def keep(connection: Connection, name: str) -> None:
    """Work a view out once: on this connection those that read it read its rows from now on."""
    try:
        connection.execute(f"create temporary table {name} as from main.{name}")
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error


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


def set_variable(connection: Connection, name: str, value: str | None) -> None:
    """Set a variable that queries read; with None it stays what it is."""
    if value is not None:
        connection.execute(f"set variable {name} = ?", [value])


@contextmanager
def refusals() -> Iterator[None]:
    """What the engine refuses within is a QueryFailed."""
    try:
        yield
    except duckdb.Error as error:
        raise QueryFailed(str(error)) from error


def quoted(text: str) -> str:
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
