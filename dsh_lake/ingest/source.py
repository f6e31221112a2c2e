"""One file of any kind to rows: the unit of work that a scan maps over its files, here or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from dsh_lake.errors import UnreadableSource
from dsh_lake.ingest.parts import Part, PartLimits, PartWriter
from dsh_lake.ingest.session_file import FileFacts, FileTask, Relieve, read_session_file
from dsh_lake.tables.place import Row


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that the operating system refused to give."""

    source_key: int
    reason: str


Outcome = FileFacts | Unread


def read_source(task: FileTask, rows: dict[str, list[Row]], relieve: Relieve) -> Outcome:
    """Read one file; its rows are added to ``rows``, and ``relieve`` is told how much text they came from."""
    try:
        return read_session_file(task, rows, relieve)
    except UnreadableSource as error:
        return Unread(task.source_key, error.reason)


@dataclass(frozen=True, slots=True)
class Output:
    """What came of a run of files: an outcome each, and the part files that hold their rows."""

    outcomes: list[Outcome]
    parts: list[Part]


class SourceRun:
    """Files read one after another into part files below ``tables`` whose names begin with ``prefix``."""

    def __init__(self, tables: Path, prefix: str, limits: PartLimits | None = None) -> None:
        self._writer = PartWriter(tables, prefix, limits)
        self._outcomes: list[Outcome] = []

    def read(self, task: FileTask) -> None:
        """Read one more file."""
        self._outcomes.append(read_source(task, self._writer.rows, self._writer.relieve))

    def finish(self) -> Output:
        """Close the part files and say what came of all files."""
        return Output(self._outcomes, self._writer.finish())


def read_sources(
    tasks: Iterable[FileTask], tables: Path, prefix: str, *, on_read: Callable[[int], None] = lambda _: None
) -> Output:
    """Read files one after another; ``on_read`` is told the size of each as it is done."""
    run = SourceRun(tables, prefix)
    for task in tasks:
        run.read(task)
        on_read(task.size_bytes)
    return run.finish()
