"""Take something out of a lake: the rows of a table or view as a file, or a whole lake that can be shared.

The rule: what is written is there wholly or not at all, is readable by its owner alone, and never lies in the
lake that it comes from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from dsh_lake import sqlassets
from dsh_lake.errors import UnknownQuery, UsageError
from dsh_lake.formats import WRITERS
from dsh_lake.lake import Lake, default_lake
from dsh_lake.readonly import read_rows
from dsh_lake.real_paths import true_path
from dsh_lake.shared_lake import write_shared_lake
from dsh_lake.whole_files import written_whole

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("parquet", "csv", "ndjson")
_SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}
_KINDS = ("tables", "views", "checks")


def export(
    what: str | None,
    output: str | os.PathLike[str] | IO[bytes],
    *,
    lake: str | os.PathLike[str] | None = None,
    format: str | None = None,
    as_of: str | None = None,
    metadata_only: bool = False,
) -> dict[str, Any]:
    """Write the rows of a table or view to a file, or all of the lake without its content to a folder.

    Rows are written as they are read: as many as there are take no more memory. They come in the order of the
    view; tables, and views without an order, are in none. Texts in CSV that a spreadsheet might run as a
    formula have an apostrophe before them (see :func:`dsh_lake.formats.write_csv`); instants are ISO 8601 in
    UTC with six decimals, lists and structs JSON. Parquet keeps the types.

    Args:
        what: name of a table, view or check; None with ``metadata_only``.
        output: a file, replaced if it exists; or an open binary file, which needs ``format``. With
            ``metadata_only`` a folder that is new or empty.
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        format: ``parquet``, ``csv`` or ``ndjson``; by default what the name of the file says.
        as_of: ``scan_id`` of an earlier scan.
        metadata_only: write a lake of the same numbers in which ids and paths are keyed digests and texts
            their length and digest. docs/other-tools.md lists what stays.

    Returns:
        Of rows ``what``, ``output``, ``format`` and ``rows``; of a lake ``lake``, ``scan_id``, ``tables``
        (rows by table) and ``bytes``.

    Raises:
        UnknownQuery: there is no table or view of that name.
        UsageError: the format is not known, or the output lies in the lake, or is a folder in use.
        LakeError: there is no lake, or no such scan.
        OSError: the output cannot be written.
    """
    source = Lake(lake if lake is not None else default_lake())
    if metadata_only:
        return _export_lake(what, output, source, format, as_of)
    query, chosen = _query(what), _format(format, output)
    with read_rows(query, source.path, as_of=as_of) as reader:
        counted = _Counted(reader)
        with opened_privately(output, source) as sink:
            WRITERS[chosen](counted.reader, sink)
    place = os.fspath(output) if isinstance(output, str | os.PathLike) else None
    return {"what": what, "output": place, "format": chosen, "rows": counted.rows}


def _export_lake(
    what: str | None,
    output: str | os.PathLike[str] | IO[bytes],
    source: Lake,
    format: str | None,
    as_of: str | None,
) -> dict[str, Any]:
    if what is not None or format is not None:
        raise UsageError("a lake without content is exported whole: name no table and no format")
    if not isinstance(output, str | os.PathLike):
        raise UsageError("a lake is a folder: say which one it is to be")
    folder = Path(os.path.abspath(os.path.expanduser(output)))
    source.require()
    _refuse_inside(folder, source)
    return write_shared_lake(source, folder, as_of=as_of)


def _query(what: str | None) -> str:
    if what is None:
        raise UsageError("say what to export: `dsh-lake views` lists the tables and views")
    try:
        name = sqlassets.find(what, _KINDS).name
    except UnknownQuery as error:
        raise UnknownQuery(f"no table or view is called {what!r}; `dsh-lake views` lists them") from error
    return f'from "{name}"'


def _format(chosen: str | None, output: str | os.PathLike[str] | IO[bytes]) -> str:
    if chosen is None and isinstance(output, str | os.PathLike):
        chosen = _SUFFIXES.get(os.path.splitext(os.fspath(output))[1].lower())
        if chosen is None:
            raise UsageError(
                f"{os.fspath(output)}: the name says no format; choose one of {', '.join(FORMATS)}"
            )
    if chosen not in FORMATS:
        raise UsageError(f"the format is {chosen!r}, not one of {', '.join(FORMATS)}")
    return chosen


class _Counted:
    """A reader, and how many rows came out of it so far."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        import pyarrow as pa

        self.rows = 0
        self.reader = pa.RecordBatchReader.from_batches(reader.schema, self._batches(reader))

    def _batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        for batch in reader:
            self.rows += batch.num_rows
            yield batch


@contextmanager
def opened_privately(output: str | os.PathLike[str] | IO[bytes], source: Lake) -> Iterator[IO[bytes]]:
    """The open file itself, or one that takes the place of ``output`` when all is written: readable by its
    owner alone, and nowhere in the lake ``source``."""
    if not isinstance(output, str | os.PathLike):
        yield output
        return
    target = Path(os.path.abspath(os.path.expanduser(output)))
    _refuse_inside(target, source)
    with written_whole(target, is_private=True) as sink:
        yield sink


def _refuse_inside(output: Path, source: Lake) -> None:
    """Links are followed: what counts is where the bytes would lie."""
    if Path(true_path(output, strict=False)).is_relative_to(true_path(source.path)):
        raise UsageError(f"{output}: lies in the lake, which is written by scans alone; choose another place")
