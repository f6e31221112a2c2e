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
