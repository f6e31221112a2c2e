"""Rows as tuples to Arrow record batches of a stored table.

Rows are gathered as tuples and turned into columns all at once: the transposition and the building of
each column happen in C. JSON text columns arrive as bytes-like values that are known to be valid UTF-8
and are joined into one buffer instead of being decoded and encoded again.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, repeat
from math import isfinite
from typing import Any

import pyarrow as pa

from dsh_lake.errors import SchemaError
from dsh_lake.schemas import TABLES, Column, stored_schema
from dsh_lake.tables.place import Marks, Row


def to_batch(table: str, rows: Sequence[Row], runs: Sequence[tuple[int, Marks]]) -> pa.RecordBatch:
    """A record batch of the stored schema of ``table``; one row per tuple, in order.

    Args:
        rows: the rows without their marks.
        runs: how many rows have which marks, in order.

    Raises:
        SchemaError: a row lacks a value that the declaration asks for.
    """
    schema = stored_schema(table)
    marked = len(Marks.__args__)  # type: ignore[attr-defined]
    columns = TABLES[table].stored[marked:]
    values = zip(*rows, strict=True) if rows else ((),) * len(columns)
    arrays = [_mark_column(runs, at, schema.field(at).type) for at in range(marked)]
    for column, value in zip(columns, values, strict=True):
        arrays.append(_build(column, schema.field(column.name).type, value))
    for field, column in zip(schema, arrays, strict=True):
        if column.null_count and not field.nullable:
            raise SchemaError(f"{table}.{field.name} is declared to have a value in every row and has not")
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _mark_column(runs: Sequence[tuple[int, Marks]], at: int, arrow_type: pa.DataType) -> pa.Array:
    total = sum(length for length, _ in runs)
    values = {marks[at] for _, marks in runs}
    if len(values) == 1:
        return pa.repeat(pa.scalar(values.pop(), arrow_type), total)
    if arrow_type == pa.int64():
        # Hundreds of short runs: joined as bytes in one go, each the eight bytes of a value, repeated.
        joined = b"".join(marks[at].to_bytes(8, sys.byteorder) * length for length, marks in runs)
        return pa.Array.from_buffers(arrow_type, total, [None, pa.py_buffer(joined)])
    return pa.array(chain.from_iterable(repeat(marks[at], length) for length, marks in runs), arrow_type)


def _build(column: Column, arrow_type: pa.DataType, values: Sequence[Any]) -> pa.Array:
    if column.type == "json":
        return _json_column(values)
    if column.type == "json[]":
        return _json_list_column(values)
    if column.type == "double":
        return pa.array([None if value is None else _double(value) for value in values], arrow_type)
    return pa.array(values, arrow_type)


def _double(number: float) -> float | None:
    """The double nearest to any number that JSON can spell; None where that is infinite."""
    try:
        nearest = float(number)
    except OverflowError:
        return None
    return nearest if isfinite(nearest) else None


def _json_column(values: Sequence[Any]) -> pa.Array:
    present = [value for value in values if value is not None]
    if not present:
        return pa.nulls(len(values), pa.large_string())
    joined = _joined(present)
    if len(present) == len(values):
        return joined
    positions = accumulate((value is not None for value in values), initial=0)
    indices = [at if value is not None else None for value, at in zip(values, positions, strict=False)]
    return joined.take(pa.array(indices, pa.int64()))


def _json_list_column(values: Sequence[Sequence[Any] | None]) -> pa.Array:
    filled = [value for value in values if value is not None]
    if not filled:
        return pa.nulls(len(values), pa.list_(pa.large_string()))
    # A list without a value is marked by a null offset; the next offset says where the following one begins.
    ends = list(accumulate((len(value or ()) for value in values), initial=0))
    offsets = [None if value is None else end for value, end in zip(values, ends, strict=False)] + [ends[-1]]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), _joined(list(chain.from_iterable(filled))))


def _joined(values: Sequence[Any]) -> pa.Array:
    offsets = array("q", accumulate(map(len, values), initial=0))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.large_string(), len(values), buffers)
