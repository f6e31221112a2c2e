"""Where results go and in which format: stdout or a file, which is there wholly or not at all."""

from __future__ import annotations

import io
import json
import shutil
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from dsh_lake.cli.options import DocumentFormat, RowFormat
from dsh_lake.errors import UsageError
from dsh_lake.terminal_text import terminal_json, terminal_lines
from dsh_lake.whole_files import written_whole

if TYPE_CHECKING:
    import pyarrow as pa

Render = Callable[[Any, int | None], str]
"""An object as text for people, for a terminal of that many columns or, with None, for none."""

_SUFFIXES = {
    ".json": RowFormat.JSON,
    ".csv": RowFormat.CSV,
    ".ndjson": RowFormat.NDJSON,
    ".jsonl": RowFormat.NDJSON,
    ".md": RowFormat.MARKDOWN,
    ".parquet": RowFormat.PARQUET,
}


class Target(NamedTuple):
    """An open place for results; ``width`` is that of the terminal, None where it is none."""

    sink: IO[bytes]
    width: int | None


def row_format(chosen: RowFormat | None, output: Path | None) -> RowFormat:
    """The format for rows: the one chosen, else what the name of the file says.

    Raises:
        UsageError: Parquet to stdout.
    """
    named = _SUFFIXES.get(output.suffix.lower()) if output else None
    result = chosen or named or RowFormat.TABLE
    if result is RowFormat.PARQUET and output is None:
        raise UsageError("--format parquet writes a file: say which with -o FILE")
    return result


def print_document(document: Any, chosen: DocumentFormat | None, output: Path | None, render: Render) -> None:
    """Print one object, as JSON or as text for people."""
    is_json = chosen is DocumentFormat.JSON or (
        chosen is None and output and output.suffix.lower() == ".json"
    )
    with opened(output) as target:
        text = (
            json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
            if is_json
            else render(document, target.width)
        )
        target.sink.write((terminal_json(text) if is_json else text).encode("utf-8", "backslashreplace"))


def print_text(pieces: Iterable[str], output: Path | None) -> None:
    """Print texts, one after another, as they are."""
    with opened(output) as target:
        for piece in pieces:
            target.sink.write(piece.encode("utf-8", "backslashreplace"))


def print_rows(rows: pa.RecordBatchReader, chosen: RowFormat, output: Path | None) -> None:
    """Print rows batch by batch in any format but ``table``."""
    from dsh_lake.formats import WRITERS

    with opened(output) as target:
        WRITERS[chosen](rows, _safe(target, chosen))


@contextmanager
def stdout_for(chosen: RowFormat) -> Iterator[IO[bytes]]:
    """stdout, for rows in that format."""
    with opened(None) as target:
        yield _safe(target, chosen)


def _safe(target: Target, chosen: RowFormat) -> IO[bytes]:
    """Where rows go: what is shown on a terminal is made safe to show."""
    if target.width is None:
        return target.sink
    is_json = chosen in (RowFormat.JSON, RowFormat.NDJSON)
    return cast("IO[bytes]", _TerminalSink(target.sink, terminal_json if is_json else terminal_lines))


@contextmanager
def opened(output: Path | None) -> Iterator[Target]:
    """stdout, or a file that takes its place when all is written."""
    if output is None:
        sys.stdout.flush()
        is_terminal = sys.stdout.isatty()
        yield Target(sys.stdout.buffer, shutil.get_terminal_size().columns if is_terminal else None)
        sys.stdout.buffer.flush()
        return
    with written_whole(output, is_private=False) as sink:
        yield Target(sink, None)


class _TerminalSink(io.RawIOBase):
    """Bytes of UTF-8 on their way to a terminal, each character made safe to show."""

    def __init__(self, sink: IO[bytes], escape: Callable[[str], str]) -> None:
        self._sink = sink
        self._escape = escape
        self._decoder = getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._sink.write(self._escape(self._decoder.decode(bytes(content))).encode())
        return len(content)
