"""Rows to Parquet part files of the lake, in bounded memory.

A part file is written straight into its table's folder and is invisible until a commit names it. Rows
are encoded in row groups of bounded size; a file is closed when it is large enough to be worth it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dsh_lake.schemas import TABLES, stored_schema
from dsh_lake.tables.sink import RowSink

COMPRESSION_LEVEL = 1


@dataclass(frozen=True, slots=True)
class PartLimits:
    """Bounds of what is held before it is written."""

    text_bytes: int = 8 << 20
    """Decoded text whose rows are held at once."""
    rows: int = 10_000
    """Rows of one table that are worth writing."""
    most_rows: int = 200_000
    """Rows of one table held at once, however little text they come from."""
    file_bytes: int = 64 << 20
    """Size at which a part file is closed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A finished part file: the add action of a commit needs no more."""

    table: str
    name: str
    size_bytes: int
    rows: int
    modified_ms: int


class PartWriter(RowSink):
    """A sink that writes its rows to part files below ``tables``, in bounded memory."""

    def __init__(
        self, tables: Path, prefix: str, *, with_content: bool = True, limits: PartLimits | None = None
    ) -> None:
        super().__init__(with_content=with_content)
        self._tables = tables
        self._prefix = prefix
        self._limits = limits or PartLimits()
        self._held_bytes = 0
        self._writers: dict[str, _OpenPart] = {}
        self._count = 0
        self._parts: list[Part] = []

    def relieve(self, text_bytes: int) -> None:
        """Take note of text that became rows; write what has grown too large to hold."""
        self._held_bytes += text_bytes
        most = max(map(len, self.rows.values()))
        if self._held_bytes >= self._limits.text_bytes or most >= self._limits.most_rows:
            if self.with_content:  # else its rows are as small as those of any other table
                self._write("events")
            self._held_bytes = 0
            for table, rows in self.rows.items():
                if len(rows) >= self._limits.rows:
                    self._write(table)

    def finish(self) -> list[Part]:
        """Write everything held, close all files and say what was written."""
        for table in self.rows:
            self._write(table)
        for table in list(self._writers):
            self._close(table)
        # What comes next is another engine with memory of its own.
        pa.default_memory_pool().release_unused()
        return self._parts

    def _write(self, table: str) -> None:
        if not self.rows[table]:
            return
        writer = self._writers.get(table)
        if writer is None:
            name = f"part-{self._prefix}-{self._count:05d}.parquet"
            self._count += 1
            writer = self._writers[table] = _OpenPart(table, self._tables / table / name)
        writer.write(self.take(table))
        if writer.size_bytes >= self._limits.file_bytes:
            self._close(table)

    def _close(self, table: str) -> None:
        self._parts.append(self._writers.pop(table).close())


def part_files(table: str, tables: Path, prefix: str, batches: Iterable[pa.RecordBatch]) -> list[Part]:
    """Write record batches of a table to as many part files as their size asks for."""
    parts: list[Part] = []
    open_part: _OpenPart | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        if open_part is None:
            open_part = _OpenPart(table, tables / table / f"part-{prefix}-{len(parts):05d}.parquet")
        open_part.write(batch)
        if open_part.size_bytes >= PartLimits().file_bytes:
            parts.append(open_part.close())
            open_part = None
    if open_part is not None:
        parts.append(open_part.close())
    return parts


class _OpenPart:
    def __init__(self, table: str, path: Path) -> None:
        self._table = table
        self._path = path
        self._rows = 0
        self._sink = pa.OSFile(os.fspath(path), "wb")
        self._writer = open_parquet(table, self._sink)

    @property
    def size_bytes(self) -> int:
        return int(self._sink.tell())

    def write(self, batch: pa.RecordBatch) -> None:
        self._rows += batch.num_rows
        self._writer.write_batch(batch)

    def close(self) -> Part:
        self._writer.close()
        self._sink.close()
        return finished_part(self._table, self._path, self._rows)


def open_parquet(table: str, sink: pa.NativeFile) -> pq.ParquetWriter:
    """A writer for the stored schema of ``table``.

    Free text goes neither into a dictionary nor into statistics. Numbers and instants are written as their
    differences, small from row to row: quicker than a dictionary of them, and half the size.
    """
    short = {column.name: column.type for column in TABLES[table].stored if not column.is_content}
    numbers = [name for name, kind in short.items() if kind in ("bigint", "timestamp")]
    return _DroppableWriter(
        sink,
        stored_schema(table),
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=[name for name in short if name not in numbers],
        column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
        write_statistics=[*short],
    )


class _DroppableWriter(pq.ParquetWriter):  # type: ignore[misc]  # pyarrow comes without types
    """A writer that may be dropped unfinished: where the disk is full it would try to write the end of its
    file even so, and Python would report on stderr that this failed too."""

    def __del__(self) -> None:
        pass


def finished_part(table: str, path: Path, rows: int) -> Part:
    """A part file that is complete on disk."""
    os.chmod(path, 0o600)
    stat = path.stat()
    return Part(table, path.name, stat.st_size, rows, int(stat.st_mtime * 1000))
