"""Delta tables in a folder: what is current, and how a scan becomes current as a whole.

    <lake>/tables/<table>/            one Delta table per stored table
    <lake>/catalog.duckdb             all views, for any DuckDB client
    <lake>/lock                       held by the one process that writes

A scan commits each table that it changed and, last of all, a row of ``scans``; that commit names the
version of every other table. A reader opens the tables at the versions that the newest such commit
names, so a scan is visible wholly or not at all. What a writer that was killed or failed left behind is
rolled back and deleted, at the latest by the next one. Everything is readable by the owner only.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsh_lake.errors import LakeBusy, LakeError, NotALake, VersionMismatch
from dsh_lake.ingest.parts import Part, finished_part, open_parquet
from dsh_lake.prices import FILE_NAME as PRICE_FILE
from dsh_lake.schemas import SCHEMA_VERSION, STORED, stored_schema
from dsh_lake.sources import printable

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

ENV = "DSH_LAKE"
_IN_THE_WAY = re.compile(r"[%?#\x00-\x1f\x7f\ud800-\udfff]")
"""What the engines that read a lake take for patterns or escapes in the path of a file."""

_OS_ERROR = re.compile(r"\(os error (\d+)\)")


def default_lake() -> Path:
    """``$DSH_LAKE``, else the folder ``dsh-lake`` of the platform's user data directory."""
    if configured := os.environ.get(ENV):
        return Path(configured)
    from platformdirs import user_data_path

    return user_data_path("dsh-lake", appauthor=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The lake as of one scan: the files of every stored table, and what the commit says of itself."""

    scan_id: str
    batch: int
    has_content: bool
    versions: Mapping[str, int]
    files: Mapping[str, Sequence[str]]


class Lake:
    """A lake in a folder on disk.

    Args:
        path: the folder.

    Raises:
        NotALake: the folder holds something else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.abspath(os.path.expanduser(path)))
        self.tables = self.path / "tables"

    @property
    def exists(self) -> bool:
        """Whether a lake was ever begun here."""
        return (self.tables / "scans" / "_delta_log").is_dir()

    def require(self) -> None:
        """Refuse to go on without a lake.

        Raises:
            NotALake: there is none.
        """
        if not self.exists:
            raise NotALake(f"{self.path}: no lake here; `dsh-lake scan` makes one")

    def require_room(self) -> None:
        """Refuse a place where something else is: a lake needs a folder of its own.

        Raises:
            NotALake: there is a file, or a folder with other things in it.
        """
        try:
            nearest = next(place for place in (self.path, *self.path.parents) if place.exists())
            if not nearest.is_dir():
                raise NotALake(f"{nearest}: not a folder")
            if nearest != self.path or self.tables.exists():
                return
            others = [name for name in os.listdir(self.path) if name not in ("lock", PRICE_FILE)]
        except OSError as error:
            raise LakeError(f"{self.path}: {error.strerror}") from error
        if others:
            raise NotALake(f"{self.path}: the folder holds other files; a lake needs a folder of its own")

    # -- reading ---------------------------------------------------------------------------------------------

    def snapshot(self, as_of: str | None = None) -> Snapshot | None:
        """The newest complete scan, or the one named; None when no scan was ever completed.

        Raises:
            NotALake: there is no lake.
            LakeError: no scan of that name, or its files are no longer kept.
        """
        self.require()
        commit = self._newest_commit() if as_of is None else self._commit_of(as_of)
        if commit is None:
            return None
        _check_schema(commit["schema_version"])
        versions = json.loads(commit["table_versions"])
        files = {name: self._files(name, versions[name]) if name in versions else [] for name in STORED}
        if as_of is not None and not all(os.path.exists(file) for held in files.values() for file in held):
            gone = f"the files of scan {as_of} are no longer kept (see `dsh-lake compact`)"
            raise LakeError(f"{self.path}: {gone}")
        return Snapshot(
            scan_id=commit["scan_id"],
            batch=int(commit["batch"]),
            has_content=commit["has_content"] == "true",
            versions=versions,
            files=files,
        )

    def _newest_commit(self) -> dict[str, Any] | None:
        scans = self._table("scans")
        # Nearly always the very last commit; maintenance may have added others.
        for commit in itertools.chain(scans.history(1), scans.history()):
            if "scan_id" in commit:
                return {**commit, **self._own_version(commit)}
        return None

    def _commit_of(self, scan_id: str) -> dict[str, Any]:
        for commit in self._table("scans").history():
            if commit.get("scan_id") == scan_id:
                return {**commit, **self._own_version(commit)}
        raise LakeError(f"{self.path}: no scan {scan_id!r} is kept; `dsh-lake sql 'from scans'` lists them")

    @staticmethod
    def _own_version(commit: Mapping[str, Any]) -> dict[str, str]:
        versions = json.loads(commit["table_versions"])
        return {"table_versions": json.dumps({**versions, "scans": commit["version"]})}

    def _files(self, name: str, version: int) -> list[str]:
        # By their names: the folder in their URIs is percent-encoded.
        names = (uri.rpartition("/")[2] for uri in self._table(name, version).file_uris())
        return sorted(os.fspath(self.tables / name / file) for file in names)

    def _table(self, name: str, version: int | None = None) -> DeltaTable:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        try:
            return DeltaTable(os.fspath(self.tables / name), version=version)
        except (DeltaError, OSError) as error:
            raise LakeError(f"{self.path}: table {name} cannot be opened: {error}") from error

    # -- catalogs --------------------------------------------------------------------------------------------

    def catalog_path(self, scan_id: str) -> Path:
        """Where the catalog of a scan lies. Each has a name of its own: an engine that has a file open
        keeps seeing it under that name, whatever is put in its place."""
        return self.path / f"catalog-{scan_id}.duckdb"

    def newest_catalog(self) -> Path | None:
        """The catalog that was last put in place, under the name of its scan where that is still there."""
        named = sorted(self.path.glob("catalog-*.duckdb"), key=lambda path: path.stat().st_mtime_ns)
        unnamed = self.path / "catalog.duckdb"
        return named[-1] if named else unnamed if unnamed.is_file() else None

    def scans_version(self) -> int:
        """The newest version of ``scans``: another one means that another scan was completed."""
        return self._log_version("scans")

    def keep_catalogs(self, scan_id: str) -> None:
        """Make the catalog of a scan the newest one; of the others only the one before it is kept, for
        those who are just opening it."""
        catalogs = sorted(self.path.glob("catalog-*.duckdb"), key=lambda path: path.stat().st_mtime_ns)
        unfinished = self.path / f".catalog.{os.getpid()}.tmp"
        shutil.copyfile(self.catalog_path(scan_id), unfinished)
        unfinished.chmod(0o600)
        unfinished.replace(self.path / "catalog.duckdb")
        for path in catalogs[:-2]:
            path.unlink(missing_ok=True)

    def delete_old(self, keep_days: float) -> tuple[int, int]:
        """Delete files that no scan of the last ``keep_days`` names; how many, and their bytes. Catalogs of
        scans whose files are gone go with them.

        Only for whoever is writing: the files of a scan in progress are named by none yet.
        """
        deleted, size = 0, 0
        for name in STORED:
            table = self._table(name)
            retention = max(0, math.ceil(keep_days * 24))
            options: dict[str, Any] = {
                "retention_hours": retention,
                "enforce_retention_duration": False,
                "full": True,
            }
            found = [self.tables / name / file for file in table.vacuum(dry_run=True, **options)]
            sizes = {file: file.stat().st_size for file in found if file.exists()}
            table.vacuum(dry_run=False, **options)
            gone = [file for file in sizes if not file.exists()]
            deleted, size = deleted + len(gone), size + sum(sizes[file] for file in gone)
        if deleted:
            self._delete_old_catalogs()
        return deleted, size

    def _delete_old_catalogs(self) -> None:
        """Leave the catalog of the newest scan alone, under both of its names if it is there."""
        commit = self._newest_commit()
        newest = self.catalog_path(commit["scan_id"]) if commit is not None else None
        for path in self.path.glob("catalog-*.duckdb"):
            if path != newest:
                path.unlink(missing_ok=True)
        if newest is None or not newest.exists():
            (self.path / "catalog.duckdb").unlink(missing_ok=True)

    # -- writing ---------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """The right to write, for one process at a time; what a killed writer left is rolled back first.

        Raises:
            LakeBusy: another process is writing.
            NotALake: the folder holds something else.
            LakeError: the operating system refuses to write, such as for want of room.
        """
        self._make_folder()
        with self._refusals(), _locked(self.path / "lock"), _private_files():
            # Tables that a lake of an older version has not yet, too.
            if not all((self.tables / name / "_delta_log").is_dir() for name in STORED):
                self._create()
            snapshot = self.snapshot()
            snapshot = self._roll_back(snapshot)
            self._delete_leftovers(snapshot)
            try:
                yield Writer(self, snapshot)
            except BaseException:
                # The room is needed, above all where there was none. Whether the scan was committed before it
                # was interrupted, the lake alone knows.
                with suppress(OSError, LakeError):
                    self._delete_leftovers(self.snapshot())
                raise

    def _make_folder(self) -> None:
        if _IN_THE_WAY.search(os.fspath(self.path)) or (os.sep == "/" and "\\" in os.fspath(self.path)):
            raise LakeError(
                f"{printable(os.fspath(self.path))}: a lake's path may hold none of % ? #, backslash "
                "and control characters: the engines that read it take them for patterns or escapes"
            )
        self.require_room()
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.chmod(self.path, 0o700)
        except OSError as error:
            raise LakeError(f"{self.path}: {error.strerror}") from error

    def _create(self) -> None:
        from deltalake import DeltaTable

        # `scans` comes last: only then is the folder a lake.
        for name in sorted(STORED, key=lambda name: name == "scans"):
            (self.tables / name).mkdir(parents=True, exist_ok=True)
            DeltaTable.create(
                os.fspath(self.tables / name),
                stored_schema(name),
                mode="ignore",
                configuration={"delta.checkpointInterval": "50"},
            )

    def _roll_back(self, snapshot: Snapshot | None) -> Snapshot | None:
        """Undo commits that no scan names; the snapshot with the versions that this gave, so that the next
        scan names them and nothing is undone twice."""
        versions = dict(snapshot.versions) if snapshot is not None else {}
        for name in STORED:
            pinned = versions.get(name, 0)
            if name != "scans" and self._log_version(name) != pinned:
                self._table(name).restore(pinned)
                versions[name] = self._log_version(name)
        return replace(snapshot, versions=versions) if snapshot is not None else None

    def _delete_leftovers(self, snapshot: Snapshot | None) -> None:
        """Delete what writers made and never committed: files of batches that no scan has had."""
        newest = snapshot.batch if snapshot is not None else 0
        for name in STORED:
            for file in os.listdir(self.tables / name):
                batch = file.removeprefix("part-").partition("-")[0]
                if file.startswith("part-") and batch.isdecimal() and int(batch) > newest:
                    (self.tables / name / file).unlink(missing_ok=True)
        for unfinished in self.path.glob(".catalog*"):
            unfinished.unlink(missing_ok=True)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """What the operating system refuses within is an error of the lake, whichever library was told."""
        from deltalake.exceptions import DeltaError

        try:
            yield
        except (OSError, DeltaError) as error:
            raise LakeError(f"{self.path}: the lake cannot be written: {_reason(error)}") from error

    def _log_version(self, name: str) -> int:
        """The newest version of a table, by a look at the folder of its log."""
        names = os.listdir(self.tables / name / "_delta_log")
        commits = (int(name[:20]) for name in names if name.endswith(".json") and name[:20].isdigit())
        return max(commits, default=-1)


class Writer:
    """The open right to write a lake; only :meth:`Lake.writing` makes one."""

    def __init__(self, lake: Lake, snapshot: Snapshot | None) -> None:
        self.lake = lake
        self.snapshot = snapshot
        self.batch = 1 if snapshot is None else snapshot.batch + 1

    @property
    def part_prefix(self) -> str:
        """What the names of this scan's part files begin with: unique, also among killed scans."""
        return f"{self.batch:08d}-{os.getpid()}-{time.time_ns()}"

    def files_after(self, parts: Sequence[Part], replace: Sequence[str]) -> dict[str, list[str]]:
        """The files of every table as they will be once the parts are committed."""
        before = self.snapshot.files if self.snapshot else {}
        files = {name: [] if name in replace else list(before.get(name, ())) for name in STORED}
        for part in parts:
            files[part.table].append(os.fspath(self.lake.tables / part.table / part.name))
        return files

    def write_table(self, name: str, rows: pa.Table) -> Part:
        """Write rows of the stored schema of ``name`` to a part file of their own."""
        import pyarrow as pa

        path = self.lake.tables / name / f"part-{self.part_prefix}.parquet"
        sink = pa.OSFile(os.fspath(path), "wb")
        with open_parquet(name, sink) as writer:
            writer.write_table(rows)
        sink.close()
        return finished_part(name, path, rows.num_rows)

    def commit(
        self, parts: Sequence[Part], scan: Mapping[str, Any], *, replace: Sequence[str] = ()
    ) -> Snapshot:
        """Make part files current, all at once.

        Args:
            parts: finished part files of any tables.
            scan: the row of ``scans``, without ``table_versions``.
            replace: tables whose earlier files stop being current.
        """
        by_table: dict[str, list[Part]] = {name: [] for name in replace}
        for part in parts:
            by_table.setdefault(part.table, []).append(part)
        versions = dict(self.snapshot.versions) if self.snapshot else dict.fromkeys(STORED, 0)
        for name, added in by_table.items():
            versions[name] = self._commit_table(name, added, "overwrite" if name in replace else "append")
        versions.pop("scans", None)
        row = {**scan, "table_versions": json.dumps(versions)}
        part = self._write_scan(row)
        versions["scans"] = self._commit_table("scans", [part], "append", _about(row))
        self.snapshot = Snapshot(
            scan_id=scan["scan_id"],
            batch=scan["batch"],
            has_content=scan["has_content"],
            versions=versions,
            files=self.files_after([*parts, part], replace),
        )
        self.batch += 1
        return self.snapshot

    def last_scan(self) -> dict[str, Any] | None:
        """The row of ``scans`` that was committed last."""
        if self.snapshot is None:
            return None
        import pyarrow.parquet as pq

        rows: list[dict[str, Any]] = pq.ParquetFile(self.snapshot.files["scans"][-1]).read().to_pylist()
        return rows[-1] if rows[-1]["scan_id"] == self.snapshot.scan_id else None

    def _write_scan(self, row: Mapping[str, Any]) -> Part:
        import pyarrow as pa

        return self.write_table("scans", pa.Table.from_pylist([dict(row)], schema=stored_schema("scans")))

    def _commit_table(
        self, name: str, parts: Sequence[Part], mode: str, about: Mapping[str, str] | None = None
    ) -> int:
        from deltalake import CommitProperties
        from deltalake.transaction import AddAction, RemoveAction

        adds: list[AddAction | RemoveAction] = [
            AddAction(
                part.name, part.size_bytes, {}, part.modified_ms, True, json.dumps({"numRecords": part.rows})
            )
            for part in parts
        ]
        table = self.lake._table(name)
        table.create_write_transaction(
            adds,
            mode,
            table.schema(),
            commit_properties=CommitProperties(custom_metadata=dict(about)) if about else None,
        )
        return self.lake._log_version(name)


def _about(scan: Mapping[str, Any]) -> dict[str, str]:
    """What the commit of a row of ``scans`` says of itself, to be read without reading the row."""
    return {
        "scan_id": scan["scan_id"],
        "batch": str(scan["batch"]),
        "has_content": "true" if scan["has_content"] else "false",
        "schema_version": scan["schema_version"],
        "table_versions": scan["table_versions"],
    }


def _reason(error: Exception) -> str:
    """What the operating system said, in its words; the engine for tables quotes its number among others."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None and (quoted := _OS_ERROR.search(str(error))):
        number = int(quoted[1])
    return os.strerror(number) if number is not None else " ".join(str(error).split())


def _check_schema(version: str) -> None:
    if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
        raise VersionMismatch(
            f"the lake has schema version {version}, this dsh-lake writes {SCHEMA_VERSION}: "
            "scan into a new lake"
        )


@contextmanager
def _private_files() -> Iterator[None]:
    """Files made within are readable by their owner only, whoever makes them."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """An exclusive lock that ends with its process."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, path: Path) -> None:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise _busy(path) from error

else:
    import fcntl

    def _lock(descriptor: int, path: Path) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise _busy(path) from error


def _busy(path: Path) -> LakeBusy:
    return LakeBusy(
        f"{path.parent}: lake busy: another process is writing it; try again when it has finished"
    )
