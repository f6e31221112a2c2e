"""One cassette, from the bytes on disk to rows and to the facts that its ``sources`` row holds.

A cassette is always read whole: a change at its end can make any line of it a duplicate. What single
records fail becomes rows of ``cassette_faults``; checks across lines are queries over the rows.
"""

from __future__ import annotations

import os

from dsh_lake.errors import UnreadableSource
from dsh_lake.ingest.files import FileFacts, FileTask, facts_of_whole, stat_before_reading
from dsh_lake.ingest.state import FileState
from dsh_lake.records.cassette import EMPTY_CASSETTE, CassetteLine, read_cassette
from dsh_lake.records.cassette_facts import Header, Interaction
from dsh_lake.tables.cassettes import cassette_row, fault_row, interaction_row
from dsh_lake.tables.sink import RowSink

_READ_BYTES = 1 << 20
_RELIEF_LINES = 256
FORMAT_VERSION = 1


def read_cassette_file(task: FileTask, sink: RowSink) -> FileFacts:
    """Read one cassette; its rows go to ``sink``.

    Raises:
        UnreadableSource: the operating system refuses to open or read the file.
    """
    status, is_racy = stat_before_reading(task.path)
    sink.mark((task.source_key, task.batch, False, False))
    reader = _CassetteFile(sink)
    try:
        # Most cassettes are small, and there may be ten thousand of them.
        with open(task.path, "rb", buffering=min(_READ_BYTES, status.st_size + 2)) as file:
            for line in read_cassette(file):
                reader.add(line)
    except OSError as error:
        raise UnreadableSource(task.path, error.strerror or str(error)) from error
    return reader.facts(task.source_key, status, is_racy)


class _CassetteFile:
    def __init__(self, sink: RowSink) -> None:
        self._sink = sink
        self._state = FileState(encoding="plain")
        self._header: CassetteLine | None = None
        self._relieved_at = 0

    def add(self, line: CassetteLine) -> None:
        state, sink, facts = self._state, self._sink, line.facts
        state.lines = line.line
        state.line = line.physical_line
        state.offset = line.offset + len(line.octets)
        state.rejected_lines += facts is None
        if isinstance(facts, Interaction):
            row = interaction_row(
                facts,
                line.physical_line,
                line.offset,
                is_escaped=b"\\u" in line.octets,
                with_content=sink.with_content,
            )
            sink.rows["interactions"].append(row)
        elif line.line == 1:
            self._header = line
        for fault in line.faults:
            sink.rows["cassette_faults"].append(
                fault_row(fault, line.physical_line, with_content=sink.with_content)
            )
        if line.line % _RELIEF_LINES == 0:
            sink.relieve(state.offset - self._relieved_at)
            self._relieved_at = state.offset

    def facts(self, source_key: int, status: os.stat_result, is_racy: bool) -> FileFacts:
        """What the whole file showed. A size of another moment than the content only makes the next scan
        read the file again."""
        state, sink = self._state, self._sink
        line = self._header
        header = line.facts if line is not None and isinstance(line.facts, Header) else None
        physical_line = line.physical_line if line is not None else None
        is_sound = line is not None and not line.faults
        row = cassette_row(
            header or Header(), physical_line, is_sound=is_sound, with_content=sink.with_content
        )
        sink.rows["cassettes"].append(row)
        if line is None:
            sink.rows["cassette_faults"].append(fault_row(EMPTY_CASSETTE, None, with_content=True))
        sink.relieve(status.st_size - self._relieved_at)
        state.decoded_bytes = state.good_frame_bytes = status.st_size
        faulty = {fault.code for fault in line.faults} if line is not None else set()
        has_version = header is not None and not faulty & {"unsupported-format", "unsupported-version"}
        return facts_of_whole(
            source_key,
            status,
            is_racy=is_racy,
            state=state,
            outcome="failed" if header is None else "partial" if state.rejected_lines else "ok",
            code=None,
            message=_message(line is None, header is None, state.rejected_lines),
            stated_version=FORMAT_VERSION if has_version else None,
        )


def _message(is_empty: bool, is_headless: bool, rejected_lines: int) -> str | None:
    if is_empty:
        return EMPTY_CASSETTE.message
    if is_headless:
        return "the first line is no cassette header"
    return f"{rejected_lines} lines are no interactions" if rejected_lines else None
