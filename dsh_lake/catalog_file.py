"""The catalog of a scan: a DuckDB file of all tables and views, and of rows the state of the files alone.

A reader opens it and sees that scan, whatever is written since.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from dsh_lake import prices, sqlassets
from dsh_lake.definitions import (
    AGGREGATES,
    StoredTables,
    all_views,
    create_all,
    create_prices,
    fill_kept,
    stored_query,
)
from dsh_lake.engine import (
    ENGINE_VERSION,
    Connection,
    connect_catalog,
    fetch_rows,
    open_engine,
    quoted,
    refusals,
)
from dsh_lake.errors import BadPrices, LakeError, QueryFailed
from dsh_lake.schemas import STORED


def assets_digest() -> str:
    """A digest of all query files that a catalog is made of, and of the stored schemas."""
    digest = hashlib.sha256()
    for query in [*sqlassets.load(AGGREGATES).values(), *all_views()]:
        digest.update(f"{query.name}\0{query.text}\0".encode())
    digest.update(prices.to_json(prices.shipped()).encode())
    digest.update(repr([(name, table.stored_names) for name, table in STORED.items()]).encode())
    return digest.hexdigest()


class CatalogBuilder:
    """A catalog in the making: a file beside its future name.

    Args:
        path: where the catalog will be, in the folder of its lake, whose prices become part of it.
        files: the Parquet files of every stored table.
        previous: an earlier catalog. One of the same files is taken over as it is, no other: rows that are
            replaced stay readable in the free space of the file that held them.

    Raises:
        LakeError: there is no room for it, here or when it is finished.
    """

    def __init__(self, path: Path, files: Mapping[str, Sequence[str]], previous: Path | None = None) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._unfinished.unlink(missing_ok=True)
        self.price_fault: BadPrices | None = None
        with _writing(path.parent):
            self._begin(files, previous)

    def _begin(self, files: Mapping[str, Sequence[str]], previous: Path | None) -> None:
        digest = assets_digest()
        before = _info_of(previous) if previous is not None else {}
        known = before.get("files", {})
        self.is_copy = (
            previous is not None
            and before.get("assets") == digest
            and known.get("sources") == list(files.get("sources", ()))
        )
        if previous is not None and self.is_copy:
            shutil.copyfile(previous, self._unfinished)
            self.connection = open_engine(str(self._unfinished), read_only=False)
        else:
            self.connection = _open_template(digest, self._unfinished)
        self._replace(files, known if self.is_copy else {})
        self._keep_prices()
        self._files = dict(files)
        self._assets = digest

    def _keep_prices(self) -> None:
        """Let clients that know nothing of this package price calls as it does."""
        try:
            price_rows = prices.of_lake(self._path.parent)
        except BadPrices as error:
            # No reason to fail a scan, which says so; any connection of this package does.
            price_rows = prices.shipped()
            self.price_fault = error
        create_prices(self.connection, price_rows)

    def _replace(self, files: Mapping[str, Sequence[str]], before: Mapping[str, Sequence[str]]) -> None:
        for name in STORED:
            if list(files.get(name, ())) != list(before.get(name, ())):
                query = stored_query(self.connection, STORED[name], StoredTables(files))
                self.connection.execute(f"create or replace view stored.{name} as {query}")
        if list(files.get("sources", ())) != list(before.get("sources", ())):
            fill_kept(self.connection)

    def finish(self, files: Mapping[str, Sequence[str]], about: Mapping[str, Any]) -> None:
        """Close the catalog over ``files`` and put it in its place; ``about`` is kept in it."""
        info = {
            **about,
            "assets": self._assets,
            "files": {name: list(paths) for name, paths in files.items()},
        }
        query = f"select {quoted(json.dumps(info))} as info"
        with _writing(self._path.parent):
            self._replace(files, self._files)
            self.connection.execute(f"create or replace view stored.catalog_info as {query}")
            # To close does so too, but says nothing where it fails.
            self.connection.execute("checkpoint")
            self.connection.close()
        self._unfinished.chmod(0o600)
        self._unfinished.replace(self._path)

    def abandon(self) -> None:
        """Close and remove what was made."""
        self.connection.close()
        self._unfinished.unlink(missing_ok=True)


@contextmanager
def _writing(lake: Path) -> Iterator[None]:
    """What the engine cannot write is an error of the lake, for the reason that the system gives."""
    try:
        with refusals():
            yield
    except QueryFailed as error:
        reason = str(error).splitlines()[0].rpartition(": ")[2]
        raise LakeError(f"{lake}: the lake cannot be written: {reason}") from error


def _open_template(assets: str, path: Path) -> Connection:
    """Put a catalog over no files at ``path`` and open it. To make one takes as long as to copy hundreds, so
    one is kept among the user's caches for each engine and set of query files; a damaged one is made anew."""
    folder = user_cache_path("dsh-lake", appauthor=False)
    template = folder / f"catalog-{ENGINE_VERSION}-{assets}.duckdb"
    with suppress(OSError, QueryFailed):
        shutil.copyfile(template, path)
        return open_engine(os.fspath(path), read_only=False)
    path.unlink(missing_ok=True)
    with open_engine(os.fspath(path), read_only=False) as connection:
        create_all(connection, StoredTables())
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = folder / f".{template.name}.{os.getpid()}.tmp"
        shutil.copyfile(path, unfinished)
        unfinished.replace(template)
        _remove_others(template)
    return open_engine(os.fspath(path), read_only=False)


def _remove_others(template: Path) -> None:
    """Templates of earlier versions of the query files are of no use any more."""
    for path in template.parent.glob("catalog-*.duckdb"):
        if path != template:
            path.unlink(missing_ok=True)


def _info_of(path: Path) -> dict[str, Any]:
    """What a catalog file says of itself; empty when it cannot be read."""
    try:
        with connect_catalog(path) as connection:
            return read_info(connection)
    except QueryFailed:
        return {}


def read_info(connection: Connection) -> dict[str, Any]:
    """What the open catalog says of itself: ``scan_id``, ``lake``, ``files`` and so on.

    Raises:
        QueryFailed: it says nothing: no catalog of this version.
    """
    rows = fetch_rows(connection, "select info from stored.catalog_info")
    try:
        info = json.loads(rows[0]["info"])
    except (IndexError, TypeError, ValueError) as error:
        raise QueryFailed("the catalog does not say what it is of") from error
    if not isinstance(info, dict):
        raise QueryFailed("the catalog does not say what it is of")
    return info
