"""A file to read, and what reading it showed: what a scan hands out and gets back, whatever the kind."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from dsh_lake.errors import UnreadableSource
from dsh_lake.ingest.state import FileState, HeaderFacts, Note
from dsh_lake.ingest.text import TextLimits

RACY_NS = 2_000_000_000
"""A file changed less than this before it was read may change again within one tick of its clock."""


@dataclass(frozen=True, slots=True)
class FileTask:
    """One file to read: what is known of it before, and how its rows are to be marked."""

    path: str
    kind: str
    source_key: int
    batch: int
    size_bytes: int = 0
    generation: int | None = None
    named_encoding: str | None = None
    resume: str | None = None
    prefix_sha256: str | None = None
    limits: TextLimits = field(default_factory=TextLimits)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What reading a file showed. ``state`` counts what was read for good, ``header`` and ``notes`` are
    as of the end of the file, ``has_repeated_calls`` of all of it; ``stated_version`` is the format version
    where there is no ``header`` to tell it; ``resume`` is None when the next scan must start over."""

    source_key: int
    status: str
    code: str | None
    message: str | None
    stated_version: int | None
    state: FileState
    header: HeaderFacts | None
    notes: tuple[Note, ...]
    has_repeated_calls: bool
    torn_tail_bytes: int
    recovered_lines: int
    resume: str | None
    prefix_sha256: str | None
    is_continued: bool
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    is_racy: bool


def facts_of_whole(
    source_key: int,
    status: os.stat_result,
    *,
    is_racy: bool,
    state: FileState,
    outcome: str,
    code: str | None,
    message: str | None,
    stated_version: int | None,
) -> FileFacts:
    """The facts of a file that is no session log: read whole each time, without header, tail and remarks."""
    return FileFacts(
        source_key=source_key,
        status=outcome,
        code=code,
        message=message,
        stated_version=stated_version,
        state=state,
        header=None,
        notes=(),
        has_repeated_calls=False,
        torn_tail_bytes=0,
        recovered_lines=0,
        resume=None,
        prefix_sha256=None,
        is_continued=False,
        size_bytes=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        inode=status.st_ino,
        is_racy=is_racy,
    )


def stat_before_reading(path: str) -> tuple[os.stat_result, bool]:
    """The status of a file that is about to be opened, and whether it changed so shortly ago that its
    times cannot prove it unchanged later. Taken before: should another file be put in its place
    meanwhile, the next scan sees that.

    Raises:
        UnreadableSource: the operating system refuses.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise UnreadableSource(path, error.strerror or str(error)) from error
    return status, time.time_ns() - max(status.st_ctime_ns, status.st_mtime_ns) < RACY_NS
