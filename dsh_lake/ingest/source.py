"""One file of any kind to rows: the unit of work that a scan maps over its files, here or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dsh_lake.errors import UnreadableSource
from dsh_lake.ingest.files import FileFacts, FileTask
from dsh_lake.ingest.parts import Part, PartLimits, PartWriter
from dsh_lake.ingest.session_file import read_session_file
from dsh_lake.tables.sink import RowSink


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that the operating system refused to give."""

    source_key: int
    reason: str


Outcome = FileFacts | Unread


def read_source(task: FileTask, sink: RowSink) -> Outcome:
    """Read one file; its rows go to ``sink``."""
    try:
        if task.kind == "manifest":
            from dsh_lake.ingest.manifest_file import read_manifest_file

            return read_manifest_file(task, sink)
        if task.kind != "cassette":
            return read_session_file(task, sink)
        # What reads cassettes takes a while to import, and most homes hold none.
        from dsh_lake.ingest.cassette_file import read_cassette_file

        return read_cassette_file(task, sink)
    except UnreadableSource as error:
        return Unread(task.source_key, error.reason)


@dataclass(frozen=True, slots=True)
class Output:
    """What came of a run of files: an outcome each, and the part files that hold their rows."""

    outcomes: list[Outcome]
    parts: list[Part]


class SourceRun:
    """Files read one after another into part files below ``tables`` whose names begin with ``prefix``."""

    def __init__(
        self, tables: Path, prefix: str, *, with_content: bool, limits: PartLimits | None = None
    ) -> None:
        self._writer = PartWriter(tables, prefix, with_content=with_content, limits=limits)
        self._outcomes: list[Outcome] = []

    def read(self, task: FileTask) -> None:
        """Read one more file."""
        self._outcomes.append(read_source(task, self._writer))

    def finish(self) -> Output:
        """Close the part files and say what came of all files."""
        return Output(self._outcomes, self._writer.finish())
