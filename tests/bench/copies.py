"""A lake of many times as many files: the stored rows of one lake, copied under other keys and names.

To write and scan ten million events takes longer than all that is to be measured. Copies have the same rows
in the same order, in as many Parquet files and in row groups as small as one scan of all would leave; every
file and session of a copy has a name of its own, so nothing of it is a duplicate. What events say at length
(more than `LONG` characters) is left out, since it would only fill the disk: `subagent_runs` and
`call_context_carry`, the views that look into it, have less to read than in a true lake.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from dsh_lake.ingest.parts import PartLimits
from dsh_lake.lake import Lake
from dsh_lake.schemas import STORED, Table

LONG = 300
KEYS_PER_COPY = 1_000_000
_ROW_GROUP = {"events": 6_144}
_OTHER_ROW_GROUP = 10_240
_NAMES = ("session_id", "parent_session_id", "path")


def copy_lake(lake: Path, folder: Path, copies: int) -> dict[str, list[str]]:
    """Parquet files with ``copies`` times the rows of a lake, below ``folder``: their paths by table."""
    snapshot = Lake(lake).snapshot()
    assert snapshot is not None, f"{lake}: no scan was completed"
    files: dict[str, list[str]] = {}
    with duckdb.connect() as connection:
        connection.execute("set threads = 2")
        for name, table in STORED.items():
            held = list(snapshot.files[name])
            if name == "scans" or not held:
                files[name] = held
                continue
            columns = ", ".join(_read(table, column) for column in table.stored_names)
            connection.execute(
                f"create or replace temporary table held as select {columns} "
                f"from read_parquet({held!r}, union_by_name = true)"
            )
            size = sum(Path(path).stat().st_size for path in held)
            files[name] = _copies_of(connection, table, folder / name, copies, size)
    return files


def _copies_of(
    connection: duckdb.DuckDBPyConnection, table: Table, folder: Path, copies: int, copy_bytes: int
) -> list[str]:
    folder.mkdir(parents=True)
    group = _ROW_GROUP.get(table.name, _OTHER_ROW_GROUP)
    one_copy = "select {} from held"
    parts = [
        one_copy.format(", ".join(_renamed(table, column, number) for column in table.stored_names))
        for number in range(copies)
    ]
    # As a scan leaves them: one file of sources, and files of rows of a certain size.
    together = copies if table.name == "sources" else max(1, PartLimits().file_bytes // copy_bytes)
    written = [" union all ".join(parts[first : first + together]) for first in range(0, copies, together)]
    paths = [str(folder / f"{number:03}.parquet") for number in range(len(written))]
    # The version says how numbers are encoded: as a scan does.
    options = f"format parquet, parquet_version v2, compression zstd, row_group_size {group}"
    for query, path in zip(written, paths, strict=True):
        connection.execute(f"copy ({query}) to '{path}' ({options})")
    return paths


def _read(table: Table, column: str) -> str:
    if table.name == "events" and column == "data":
        return f"case when length(data) <= {LONG} then data end as data"
    return f'"{column}"'


def _renamed(table: Table, column: str, number: int) -> str:
    if column == "source_key":
        return f"source_key + {KEYS_PER_COPY * number} as source_key"
    if table.name == "sources" and column == "source_id":
        return f"left(md5(source_id || '~{number}'), 12) as source_id"
    if table.name == "sources" and column in _NAMES:
        return f"{column} || '~{number}' as {column}"
    return f'"{column}"'
