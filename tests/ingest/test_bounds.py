"""What is held of a file does not grow with it, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from dsh_lake.ingest.files import FileTask
from dsh_lake.ingest.parts import PartLimits, PartWriter
from dsh_lake.ingest.session_file import read_session_file
from dsh_lake.ingest.state import MOST_NOTES, FileState, dump
from dsh_lake.ingest.text import TextLimits
from dsh_lake.schemas import ROW_TABLES
from dsh_lake.tables.sink import RowSink
from tests import logs


def test_rows_are_written_although_their_text_is_short(tmp_path: Path) -> None:
    for table in ROW_TABLES:
        (tmp_path / table).mkdir()
    log = tmp_path / "session.v4.jsonl.zstd"
    log.write_bytes(logs.frame(logs.header("s")) + b"".join(logs.frame(b"{}\n" * 5_000) for _ in range(6)))
    writer = PartWriter(tmp_path, "x", limits=PartLimits(most_rows=1000))
    held = []
    relieve = writer.relieve

    def watched(text_bytes: int) -> None:
        relieve(text_bytes)
        held.append(len(writer.rows["rejects"]))

    writer.relieve = watched  # type: ignore[method-assign]
    limits = TextLimits(batch_bytes=10_000)
    read_session_file(FileTask(str(log), "session", 1, 1, limits=limits), writer)
    assert max(held) < 1000
    rows = sum(
        pq.ParquetFile(tmp_path / part.table / part.name).metadata.num_rows
        for part in writer.finish()
        if part.table == "rejects"
    )
    assert rows == 30_000


def test_a_file_full_of_unknown_types_has_not_as_many_remarks(tmp_path: Path) -> None:
    unknown = [
        b'{"type":"plugin/%d","seq":%d,"time":1700000000000,"data":{}}\n' % (n, n)
        for n in range(3 * MOST_NOTES)
    ]
    log = tmp_path / "session.v4.jsonl"
    log.write_bytes(logs.header("s") + b"".join(unknown))
    sink = RowSink()
    notes = read_session_file(FileTask(str(log), "session", 1, 1), sink).notes
    about = [note for note in notes if note.code == "unknown-event"]
    assert len(about) == MOST_NOTES + 1
    assert sum(note.count for note in about) == 3 * MOST_NOTES
    assert "and others" in about[-1].message
    assert len(sink.rows["events"]) == 3 * MOST_NOTES


def test_a_remark_that_is_known_is_counted_beyond_the_bound() -> None:
    state = FileState()
    for number in range(MOST_NOTES + 5):
        state.note("warn", "unknown-event", str(number), about=str(number))
    state.note("warn", "unknown-event", "0", about="0")
    assert state.notes["unknown-event 0"].count == 2
    assert len(dump(state)) < 200 * MOST_NOTES
