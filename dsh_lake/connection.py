"""Open a lake, or a single file, for questions in SQL."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from dsh_lake import catalog, prices
from dsh_lake.catalog_file import assets_digest, read_info
from dsh_lake.definitions import StoredTables, set_prices
from dsh_lake.engine import Connection, connect_attached, connect_catalog
from dsh_lake.errors import LakeError, QueryFailed, UnreadableSource
from dsh_lake.ingest.source import Unread, read_source
from dsh_lake.lake import Lake, default_lake
from dsh_lake.schemas import ROW_TABLES, arrow_schema
from dsh_lake.sources import discover
from dsh_lake.tables.sink import RowSink
from dsh_lake.views import SessionTables, connect_memory

if TYPE_CHECKING:
    import pyarrow as pa

SESSION_TABLES = (
    "sources",
    "sessions",
    "events",
    "messages",
    "usage",
    "tool_results",
    "tool_calls",
    "event_facts",
    "rejects",
    "findings",
)
"""The tables that :func:`read_session` gives."""


def connect(lake: str | os.PathLike[str] | None = None, *, as_of: str | None = None) -> Connection:
    """A DuckDB connection with all tables and views of a lake, as of its newest complete scan.

    The connection sees that scan for as long as it is open, whatever is scanned meanwhile, and prices calls
    by the lake's ``prices.csv`` as it is now. It cannot
    change the lake's tables; temporary tables and views of your own are possible.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.

    Raises:
        NotALake: there is no lake in that folder.
        LakeError: no scan was ever completed, or the one named is no longer kept.
        BadPrices: the lake's ``prices.csv`` cannot be used.
    """
    return _connect(lake, as_of, connect_catalog)


def connect_apart(lake: str | os.PathLike[str] | None = None, *, as_of: str | None = None) -> Connection:
    """As :func:`connect`, in an engine that no other connection shares, so that it can be confined."""
    return _connect(lake, as_of, connect_attached)


def _connect(
    lake: str | os.PathLike[str] | None, as_of: str | None, open_catalog: Callable[[Path], Connection]
) -> Connection:
    target = Lake(lake if lake is not None else default_lake())
    target.require()
    price_rows = prices.of_lake(target.path)
    connection = _connect_to(target, as_of, open_catalog)
    set_prices(connection, price_rows)
    return connection


def _connect_to(target: Lake, as_of: str | None, open_catalog: Callable[[Path], Connection]) -> Connection:
    if as_of is None and (connection := _open_catalog(target, open_catalog)) is not None:
        return connection
    snapshot = target.snapshot(as_of)
    if snapshot is None:
        raise LakeError(f"{target.path}: no scan was completed yet; run `dsh-lake scan`")
    return connect_memory(StoredTables(snapshot.files))


def _open_catalog(lake: Lake, open_catalog: Callable[[Path], Connection]) -> Connection | None:
    """The newest catalog; None where a scan was killed before it made its own, or lake or package moved."""
    path = lake.newest_catalog()
    if path is None:
        return None
    try:
        connection = open_catalog(path)
        info = read_info(connection)
    except QueryFailed:
        return None
    about = (str(lake.path), lake.scans_version(), assets_digest())
    if (info.get("lake"), info.get("scans"), info.get("assets")) == about:
        return connection
    connection.close()
    return None


def read_session(path: str | os.PathLike[str], *, content: bool = True) -> dict[str, pa.Table]:
    """The tables of one session log, without a lake.

    Args:
        path: a log of any generation, compressed or plain, of any name.
        content: keep the text of messages, arguments and results.

    Returns:
        Arrow tables by name (see ``SESSION_TABLES``), each of the schema that
        :func:`dsh_lake.schemas.arrow_schema` gives, rows in the order of the file. What could not be
        read is in ``rejects`` and ``findings``; ``sources`` has one row that says how the file is. The
        rows are held in memory: several times the text of the file.

    Raises:
        UnreadableSource: the file cannot be opened.
    """
    path = os.path.expanduser(path)
    discovery = discover([path])
    if len(discovery.files) != 1 or not os.path.isfile(path):
        reason = discovery.findings[0].message if discovery.findings else "not a single file"
        raise UnreadableSource(str(path), reason)
    plan = catalog.plan(discovery.files, {}, batch=1, read_all=True)
    stored = _read_stored(plan, RowSink(with_content=content))
    with _lock:
        session_tables = _session_tables()
        session_tables.put(stored)
        tables = {name: _in_order(session_tables, name) for name in SESSION_TABLES}
        session_tables.put(None)
    return tables


_lock = Lock()


@lru_cache(maxsize=1)
def _session_tables() -> SessionTables:
    return SessionTables()


def _read_stored(plan: catalog.Plan, sink: RowSink) -> dict[str, pa.Table]:
    import pyarrow as pa

    (task,) = plan.tasks
    outcome = read_source(task, sink)
    if isinstance(outcome, Unread):
        raise UnreadableSource(task.path, outcome.reason)
    catalog.apply_outcome(plan, outcome, 1, set())
    stored = {name: pa.Table.from_batches([sink.take(name)]) for name in ROW_TABLES}
    return {**stored, "sources": catalog.to_table(plan.changed.values())}


def _in_order(session_tables: SessionTables, name: str) -> pa.Table:
    ordered = {"sources", "sessions", "findings", "rejects"}
    order = "" if name in ordered else " order by line, seq"
    return session_tables.fetch(f"from {name}{order}").cast(arrow_schema(name))
