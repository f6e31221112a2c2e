"""Rows as CSV, NDJSON, JSON, Markdown or Parquet, written batch by batch.

How a value is spelled is the matter of :mod:`dsh_lake.spelling`; here is what stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from dsh_lake.spelling import json_columns, json_encoder, text_array, text_column
from dsh_lake.terminal_text import terminal_lines

if TYPE_CHECKING:
    import pyarrow as pa

Write = Callable[["pa.RecordBatchReader", IO[bytes]], None]


def is_number(kind: pa.DataType) -> bool:
    """Whether values of the type are numbers."""
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def write_csv(rows: pa.RecordBatchReader, sink: IO[bytes]) -> None:
    """CSV after RFC 4180, with LF line ends. Texts are quoted, numbers are not; null is nothing at all,
    an empty text is ``""``. A text that a spreadsheet might run as a formula, or that begins with an
    apostrophe, has one more apostrophe before it: without it, it is the text again."""
    import pyarrow as pa
    from pyarrow.csv import CSVWriter

    is_text = [not (is_number(field.type) or pa.types.is_boolean(field.type)) for field in rows.schema]
    # Only what is text by itself: a negative year and an infinite instant are no formulas.
    is_free = [_is_string(field.type) for field in rows.schema]
    names = _no_formulas(pa.array(rows.schema.names, pa.large_string())).to_pylist()
    schema = _with_text(rows.schema, is_text)
    named = pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])
    with CSVWriter(sink, named) as writer:
        for batch in rows:
            columns = [
                _no_formulas(column) if free else column
                for column, free in zip(_to_text(batch, is_text, schema).columns, is_free, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=named))


_FORMULA = r"\A([=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}'])"
"""What spreadsheets take for the beginning of a formula, quoted or not; full-width signs are taken for the
others by some. The apostrophe is what tells them that it is none."""


def _no_formulas(texts: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, _FORMULA, r"'\1", max_replacements=1)


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def write_ndjson(rows: pa.RecordBatchReader, sink: IO[bytes]) -> None:
    """One JSON object a row, one row a line."""
    encode = json_encoder().encode_lines
    for batch in rows:
        sink.write(encode(list(_objects(batch))))


def write_json(rows: pa.RecordBatchReader, sink: IO[bytes]) -> None:
    """One JSON array of an object a row, one row a line."""
    encode = json_encoder().encode
    lead = b"["
    for batch in rows:
        for row in _objects(batch):
            sink.write(lead + b"\n" + encode(row))
            lead = b","
    sink.write(b"[]\n" if lead == b"[" else b"\n]\n")


def _objects(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    return (dict(zip(names, row, strict=True)) for row in zip(*json_columns(batch), strict=True))


def write_markdown(rows: pa.RecordBatchReader, sink: IO[bytes]) -> None:
    """A Markdown table in which no value is markup; numbers to the right, null is nothing at all."""
    rule = ["---:" if is_number(field.type) else "---" for field in rows.schema]
    sink.write(_markdown_row(map(_markdown_text, rows.schema.names)))
    sink.write(_markdown_row(rule))
    for batch in rows:
        columns = [map(_markdown_text, text_column(column)) for column in batch.columns]
        for row in zip(*columns, strict=True):
            sink.write(_markdown_row(row))


def _markdown_row(cells: Any) -> bytes:
    return f"| {' | '.join(cells)} |\n".encode()


_MARKUP = re.compile(r"[\\`*_\[\]|~#]")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def _markdown_text(text: str | None) -> str:
    if not text:
        return ""
    lines = terminal_lines(text.replace("\r\n", "\n")).translate(_HTML)
    return _MARKUP.sub(r"\\\g<0>", lines).replace("\n", "<br>")


def write_parquet(rows: pa.RecordBatchReader, sink: IO[bytes]) -> None:
    """Parquet with the types of the rows, zstd-compressed; intervals, which it cannot hold, as text."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    is_text = [pa.types.is_interval(field.type) for field in rows.schema]
    schema = _with_text(rows.schema, is_text)
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _row_groups(rows):
            writer.write_table(pa.Table.from_batches([_to_text(batch, is_text, schema) for batch in group]))


_GROUP_ROWS, _GROUP_BYTES = 131_072, 32 << 20
"""Rows of Parquet that are held before they are written: as many, and with texts not many more bytes."""


def _row_groups(rows: pa.RecordBatchReader) -> Iterator[list[pa.RecordBatch]]:
    held: list[pa.RecordBatch] = []
    for batch in rows:
        held.append(batch)
        is_large = sum(one.nbytes for one in held) >= _GROUP_BYTES
        if is_large or sum(one.num_rows for one in held) >= _GROUP_ROWS:
            yield held
            held = []
    if held:
        yield held


def _with_text(schema: pa.Schema, is_text: Sequence[bool]) -> pa.Schema:
    """The schema with the marked columns as text."""
    import pyarrow as pa

    fields = zip(schema, is_text, strict=True)
    return pa.schema([pa.field(field.name, pa.large_string()) if text else field for field, text in fields])


def _to_text(batch: pa.RecordBatch, is_text: Sequence[bool], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    columns = [
        text_array(column) if text else column for column, text in zip(batch.columns, is_text, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


WRITERS: dict[str, Write] = {
    "csv": write_csv,
    "ndjson": write_ndjson,
    "json": write_json,
    "markdown": write_markdown,
    "parquet": write_parquet,
}
"""Every format by its name."""
