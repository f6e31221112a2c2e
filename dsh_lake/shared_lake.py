"""Make a lake that can be given to others: the same numbers, without content, ids, paths or names of people.

The rule: what is written is made from the declarations in :mod:`dsh_lake.treatments`, column by column; a
column without one ends the export. Digests are keyed with a random salt that is used once and kept nowhere,
so nothing can be found out by hashing guesses, and two exports of a lake cannot be joined.

The new lake holds no catalog: that would name the folder it was made in. Whoever opens it makes one.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dsh_lake import prices
from dsh_lake.definitions import StoredTables
from dsh_lake.engine import Connection, run, set_variable
from dsh_lake.errors import LakeError, UsageError
from dsh_lake.ingest.parts import Part, part_files
from dsh_lake.lake import Lake, Snapshot, Writer
from dsh_lake.schemas import ROW_TABLES, stored_schema
from dsh_lake.treatments import DATA_MEMBERS, WORDS, treated_columns, treatments
from dsh_lake.views import connect_memory

_BATCH_ROWS = 8192
_DIGITS = 20
"""Hexadecimal digits of a digest: 80 bits, so that no two of ten million ids meet."""
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.:/@+\[\]-]{0,127}"
"""What looks like the name of a tool, model, provider, type or error."""
_CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
_FOLDER = r"|sessions|snapshot\.yml|session(\.[0-9]+)?(\.v[0-9]+)?\.jsonl(\.zstd)?"
"""Parts of a path that say nothing of whose it is; queries tell roles and generations by them."""
_NAME_KEYS, _PATH_KEYS, _OWN_KEYS = ("severity", "code", "name"), ("path", "roots"), ("position",)
"""Members of the summary of a scan whose texts are no free texts."""


def write_shared_lake(source: Lake, output: Path, *, as_of: str | None = None) -> dict[str, Any]:
    """Write a lake without content, ids and paths of the current rows of ``source``.

    Args:
        output: a folder that does not exist yet, or is empty. It is there wholly or not at all, and readable
            by its owner alone.
        as_of: ``scan_id`` of an earlier scan.

    Returns:
        ``lake`` (the new folder), ``scan_id``, ``tables`` (rows of each stored table) and ``bytes``.

    Raises:
        UsageError: the folder holds files, or lies in the lake.
        LakeError: there is no lake, or no such scan.
        SchemaError: a column has no treatment: our fault.
    """
    snapshot = source.snapshot(as_of)
    if snapshot is None:
        raise LakeError(f"{source.path}: no scan was completed yet; run `dsh-lake scan`")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output}: the lake to be shared needs a folder of its own, new or empty")
    own_prices = _own_prices(source)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    try:
        rows = _write(Lake(unfinished), snapshot, own_prices)
        unfinished.replace(output)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    return {"lake": str(output), "scan_id": snapshot.scan_id, "tables": rows, "bytes": size}


def _write(lake: Lake, snapshot: Snapshot, own_prices: str | None) -> dict[str, int]:
    masks = _Masks(secrets.token_hex(32))
    with connect_memory(StoredTables(snapshot.files)) as connection, lake.writing() as writer:
        masks.define(connection)
        parts = [
            part for table in ("sources", *ROW_TABLES) for part in _write_table(connection, writer, table)
        ]
        *history, last = [masks.scan(row) for row in _scans(snapshot)]
        if history:
            earlier = pa.Table.from_pylist(history, schema=stored_schema("scans"))
            parts.append(writer.write_table("scans", earlier))
        writer.commit(parts, last)
        if own_prices is not None:
            (lake.path / prices.FILE_NAME).write_text(masks.prices(own_prices), "utf-8")
    counts = dict.fromkeys(("sources", *ROW_TABLES), 0)
    for part in parts:
        counts[part.table] = counts.get(part.table, 0) + part.rows
    return {**counts, "scans": len(history) + 1}


def _write_table(connection: Connection, writer: Writer, table: str) -> list[Part]:
    """The part files of a table, made in batches."""
    current = "" if table == "sources" else f" as r where exists ({_CURRENT})"
    rows = run(connection, f"select {treated_columns(table)} from stored.{table}{current}")
    reader = rows.to_arrow_reader(_BATCH_ROWS)
    schema = stored_schema(table)
    batches = (batch.cast(schema) for batch in reader)
    return part_files(table, writer.lake.tables, f"{writer.part_prefix}-{table}", batches)


_CURRENT = """
    from stored.sources as s
    where r.source_key = s.source_key and r.batch between s.first_batch and s.last_batch
    and (not r.is_tail or r.batch = s.last_batch)
"""
"""A row that the state of its file still names; see docs/lake.md."""


def _scans(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """The rows of ``scans``, that of the snapshot last."""
    rows = [row for file in snapshot.files["scans"] for row in pq.ParquetFile(file).read().to_pylist()]
    yield from sorted(rows, key=lambda row: (row["scan_id"] == snapshot.scan_id, row["batch"]))


def _own_prices(lake: Lake) -> str | None:
    """The user's own price file, if there is one and it can be used."""
    path = lake.path / prices.FILE_NAME
    if not path.exists():
        return None
    prices.of_lake(lake.path)
    return path.read_text("utf-8-sig")


class _Masks:
    """What stands in the place of ids, paths, names and texts; in SQL and for the few values made here."""

    def __init__(self, salt: str) -> None:
        self._salt = salt

    # -- in SQL --------------------------------------------------------------------------------------------

    def define(self, connection: Connection) -> None:
        """Make the macros that the treatments are written with."""
        words = ", ".join(f"'{word}'" for word in sorted(WORDS))
        members = " ".join(
            f"when '{kind}' then json_object('masked', masked(data), {listed})"
            for kind, listed in DATA_MEMBERS.items()
        )
        salted = "sha256(getvariable('salt') || {})".format
        set_variable(connection, "salt", self._salt)
        for signature, body in (
            ("hashed(x)", f"left({salted(salted('x'))}, {_DIGITS})"),
            ("masked(x)", "length(x) || ':' || hashed(x)"),
            ("kept_name(x)", f"case when regexp_full_match(x, '{_NAME}') then x else hashed(x) end"),
            ("kept_word(x)", f"case when x in ({words}) then x else hashed(x) end"),
            ("kept_clock(x)", f"case when regexp_full_match(x, '{_CLOCK}') then x else hashed(x) end"),
            (
                "hashed_path(x)",
                f"array_to_string(list_transform(string_split(x, '/'), lambda part: {_PART}), '/')",
            ),
            ("masked_notes(x)", _NOTES),
            (
                "masked_data(type, data)",
                f"(case when data is null then null else "
                f"case type {members} else json_object('masked', masked(data)) end end)::varchar",
            ),
        ):
            connection.execute(f"create temp macro {signature} as {body}")

    # -- here ----------------------------------------------------------------------------------------------

    def scan(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row of ``scans``; its tables are those of the new lake."""
        treatments("scans")
        counts = row["counts"]
        return {
            **row,
            "roots": None if row["roots"] is None else [self._path(root) for root in row["roots"]],
            "counts": None if counts is None else json.dumps(self._counts(json.loads(counts), "")),
            "table_versions": "{}",
            "has_content": False,
        }

    def _counts(self, value: Any, key: str) -> Any:
        """A JSON value with its texts masked: the summary of a scan names findings and paths."""
        if isinstance(value, dict):
            return {name: self._counts(member, name) for name, member in value.items()}
        if isinstance(value, list):
            return [self._counts(member, key) for member in value]
        if not isinstance(value, str) or key in _OWN_KEYS:
            return value
        if key in _PATH_KEYS:
            return self._path(value)
        return self._name(value) if key in _NAME_KEYS else f"{len(value)}:{self._hash(value)}"

    def prices(self, text: str) -> str:
        """A price file without sources and remarks; its ids are treated as names are."""
        rows = [row for row in csv.reader(io.StringIO(text)) if any(row) and not row[0].startswith("#")]
        header = [name.strip() for name in rows[0]]
        sink = io.StringIO()
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(
            [self._price_cell(name, cell.strip()) for name, cell in zip(header, row, strict=True)]
            for row in rows[1:]
        )
        return sink.getvalue()

    def _price_cell(self, column: str, cell: str) -> str:
        if column in ("source", "remark"):
            return ""
        return self._name(cell) if column == "price_id" and cell else cell

    def _hash(self, text: str) -> str:
        inner = hashlib.sha256((self._salt + text).encode()).hexdigest()
        return hashlib.sha256((self._salt + inner).encode()).hexdigest()[:_DIGITS]

    def _name(self, text: str) -> str:
        return text if re.fullmatch(_NAME, text) else self._hash(text)

    def _path(self, path: str) -> str:
        return "/".join(part if re.fullmatch(_FOLDER, part) else self._hash(part) for part in path.split("/"))


_PART = f"case when regexp_full_match(part, '{_FOLDER}') then part else hashed(part) end"
_NOTES = """
to_json(list_transform(
    from_json(
        x, '[{"severity":"VARCHAR","code":"VARCHAR","message":"VARCHAR","count":"BIGINT","line":"BIGINT"}]'
    ),
    lambda note: {
        severity: kept_name(note.severity), code: kept_name(note.code), message: masked(note.message),
        count: note.count, line: note.line
    }
))::varchar
"""
