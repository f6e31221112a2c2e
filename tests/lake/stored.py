"""The tables of a lake as plain rows, quickly: for tests that compare many lakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dsh_lake.connection import SESSION_TABLES as TABLES
from dsh_lake.lake import Lake
from dsh_lake.schemas import STORED, stored_schema
from dsh_lake.update import UpdateOptions, update
from dsh_lake.views import SessionTables

VOLATILE = {"missing_since"}


def bring_up_to_date(roots: Iterable[Path], lake: Path, **options: Any) -> None:
    """Scan without a catalog or summary."""
    update(list(roots), Lake(lake), UpdateOptions(**options), lambda _: {})


@lru_cache(maxsize=1)
def _tables() -> SessionTables:
    return SessionTables()


def rows_of(lake: Path, *, remembered: bool = False) -> dict[str, Counter[tuple[Any, ...]]]:
    """Every table of the lake as a bag of rows; those of remembered files only if asked for."""
    snapshot = Lake(lake).snapshot()
    assert snapshot is not None
    stored = {}
    for name in STORED:
        read = [pq.ParquetFile(file).read() for file in snapshot.files[name]]
        stored[name] = pa.concat_tables(read) if read else stored_schema(name).empty_table()
    tables = _tables()
    tables.put(stored)
    skipped = {
        row["source_id"] for row in tables.fetch("from sources").to_pylist() if row["status"] == "missing"
    }
    bags = {}
    for name in TABLES:
        rows = tables.fetch(f"from {name}").to_pylist()
        kept = (row for row in rows if remembered or row["source_id"] not in skipped)
        bags[name] = Counter(
            tuple((key, str(value)) for key, value in row.items() if key not in VOLATILE) for row in kept
        )
    return bags
