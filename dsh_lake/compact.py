"""Merge small files, leave rows behind that no file's state names any more, delete what is old.

Scans only ever append: a file that was rewritten leaves its former rows behind, and every scan adds
small files. Compaction writes the current rows of each table anew, a bounded number at a time, makes
that the lake's state, and deletes files that no scan of the last days names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dsh_lake.catalog_file import CatalogBuilder
from dsh_lake.errors import UsageError
from dsh_lake.ingest.parts import Part, PartLimits, part_files
from dsh_lake.lake import Lake, Snapshot, Writer, default_lake
from dsh_lake.schemas import ROW_TABLES, SCHEMA_VERSION

KEEP_DAYS = 7.0
_SMALL_BYTES = PartLimits().file_bytes // 2
_BATCH_ROWS = 8192
_MOST_DAYS = 36_500
"""A hundred years, more than any archive is old; far more than the table format can count in hours fails."""
_ROW_COLUMNS = ["source_key", "batch", "is_tail"]


def compact(lake: str | os.PathLike[str] | None = None, *, keep_days: float = KEEP_DAYS) -> dict[str, Any]:
    """Compact a lake.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        keep_days: scans of this many last days can still be opened with ``as_of``; files that only older
            ones name are deleted. 0 deletes everything that is not current.

    Returns:
        ``lake``, ``scan_id``; ``files``, ``bytes`` and ``rows``, each as ``{before, after}`` of the current
        state; ``deleted_files`` and ``deleted_bytes`` from disk.

    Raises:
        UsageError: there are no such days.
        NotALake: there is no lake.
        LakeBusy: another process is writing it.
    """
    if not 0 <= keep_days <= _MOST_DAYS:
        raise UsageError(f"{keep_days:g} days cannot be kept: give 0 to {_MOST_DAYS:,}")
    target = Lake(lake if lake is not None else default_lake())
    target.require()
    with target.writing() as writer:
        before = writer.snapshot
        if before is None:
            return _report(target, "", _size(None), _size(None), 0, 0)
        was = _size(before)
        parts, replaced = _rewrite(writer, before)
        after = _commit(writer, before, parts, replaced) if replaced else before
        deleted_files, deleted_bytes = target.delete_old(keep_days)
        return _report(target, after.scan_id, was, _size(after), deleted_files, deleted_bytes)


def _rewrite(writer: Writer, snapshot: Snapshot) -> tuple[list[Part], list[str]]:
    """New part files of every table that gains by it, and the names of those tables."""
    current = _Current(snapshot)
    parts: list[Part] = []
    replaced: list[str] = []
    for table in ROW_TABLES:
        files = snapshot.files[table]
        if _is_scattered(files) or current.has_dead_rows(files):
            prefix = f"{writer.part_prefix}-{table}"
            parts += part_files(table, writer.lake.tables, prefix, current.rows(files))
            replaced.append(table)
    if len(snapshot.files["scans"]) > 1:
        replaced.append("scans")
    return parts, replaced


def _is_scattered(files: Sequence[str]) -> bool:
    return sum(os.path.getsize(file) < _SMALL_BYTES for file in files) > 1


class _Current:
    """Which stored rows the state of their file still names."""

    def __init__(self, snapshot: Snapshot) -> None:
        columns = ["source_key", "first_batch", "last_batch"]
        tables = [pq.ParquetFile(file).read(columns) for file in snapshot.files["sources"]]
        sources = pa.concat_tables(tables).combine_chunks() if tables else None
        empty = pa.array([], pa.int64())
        self._keys, self._first, self._last = (
            (sources[name].combine_chunks() for name in columns) if sources else (empty, empty, empty)
        )

    def _is_current(self, rows: pa.RecordBatch) -> pa.Array:
        at = pc.index_in(rows["source_key"], self._keys)
        first, last = self._first.take(at), self._last.take(at)
        batch = rows["batch"]
        within = pc.and_(pc.greater_equal(batch, first), pc.less_equal(batch, last))
        return pc.fill_null(pc.and_(within, pc.or_(pc.invert(rows["is_tail"]), pc.equal(batch, last))), False)

    def has_dead_rows(self, files: Sequence[str]) -> bool:
        """Whether any row of the files is not current."""
        return any(
            not pc.all(self._is_current(batch)).as_py()
            for file in files
            for batch in pq.ParquetFile(file).iter_batches(columns=_ROW_COLUMNS)
            if batch.num_rows
        )

    def rows(self, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The current rows of the files, in bounded batches."""
        for file in files:
            for batch in pq.ParquetFile(file).iter_batches(batch_size=_BATCH_ROWS):
                yield batch.filter(self._is_current(batch))


def _commit(writer: Writer, before: Snapshot, parts: Sequence[Part], replaced: Sequence[str]) -> Snapshot:
    started = time.time()
    scan_id = f"{datetime.fromtimestamp(started, UTC):%Y%m%dT%H%M%SZ}-{writer.batch}"
    history = [pq.ParquetFile(file).read() for file in before.files["scans"]]
    merged = [writer.write_table("scans", pa.concat_tables(history))] if "scans" in replaced else []
    last = history[-1].to_pylist()[-1]
    row = {
        "scan_id": scan_id,
        "batch": writer.batch,
        "action": "compact",
        "started_at": int(started * 1_000_000),
        "elapsed_s": None,
        "roots": last["roots"],
        "counts": last["counts"],
        "has_content": before.has_content,
        "schema_version": SCHEMA_VERSION,
    }
    lake = writer.lake
    builder = CatalogBuilder(lake.catalog_path(scan_id), before.files, lake.newest_catalog())
    try:
        after = writer.commit([*parts, *merged], row, replace=replaced)
        about = {"scan_id": scan_id, "lake": str(lake.path), "scans": lake.scans_version()}
        builder.finish(after.files, about)
    except BaseException:
        builder.abandon()
        raise
    lake.keep_catalogs(scan_id)
    return after


def _report(
    lake: Lake, scan_id: str, was: dict[str, int], now: dict[str, int], deleted_files: int, deleted_bytes: int
) -> dict[str, Any]:
    return {
        "lake": str(lake.path),
        "scan_id": scan_id,
        **{name: {"before": was[name], "after": now[name]} for name in was},
        "deleted_files": deleted_files,
        "deleted_bytes": deleted_bytes,
    }


def _size(snapshot: Snapshot | None) -> dict[str, int]:
    files = [file for table in ROW_TABLES for file in snapshot.files[table]] if snapshot else []
    return {
        "files": len(files),
        "bytes": sum(map(os.path.getsize, files)),
        "rows": sum(pq.ParquetFile(file).metadata.num_rows for file in files),
    }
