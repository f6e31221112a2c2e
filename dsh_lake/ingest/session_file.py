"""One session log, from the bytes on disk to rows and to the facts that its ``sources`` row holds.

A file that only grew is read from the end of its last complete frame on; whether it only grew is
decided by the digest of what was read before, never by its size or times alone. The digest is taken before
the bytes are read: should they change in between, the next scan finds other bytes than were signed, and
reads them all; taken afterwards, it would vouch for bytes that nobody has read. A file that has a
torn tail, or that ends inside a line, gives the rows that can be had and is taken up again at the
last point where both a frame and a line were complete.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from dsh_lake.frames import FileBytes, PieceKind
from dsh_lake.ingest.files import FileFacts, FileTask, stat_before_reading
from dsh_lake.ingest.session import HeaderRejected, SessionLines
from dsh_lake.ingest.state import NO_CUT, FileState, Note, dump, load
from dsh_lake.ingest.text import (
    NO_TAIL,
    Account,
    Encoding,
    Fault,
    Lines,
    Recovered,
    Tail,
    encoding_of,
    read_text,
)
from dsh_lake.tables.sink import RowSink

_HASH_BLOCK_BYTES = 1 << 20


def read_session_file(task: FileTask, sink: RowSink) -> FileFacts:
    """Read one session log; its rows go to ``sink``.

    Raises:
        UnreadableSource: the operating system refuses to open or read the file.
    """
    status, is_racy = stat_before_reading(task.path)
    with FileBytes(Path(task.path)) as source:
        return _SessionFile(task, sink, source, status, is_racy).read()


class _SessionFile:
    def __init__(
        self, task: FileTask, sink: RowSink, source: FileBytes, status: os.stat_result, is_racy: bool
    ) -> None:
        self._task = task
        self._sink = sink
        self._source = source
        self._stat = status
        self._is_racy = is_racy
        digest = _Digest(source)
        self._state, self._is_continued = self._start(digest)
        self._whole_sha256 = digest.up_to(source.size)
        self._mark()
        self._lines = SessionLines(self._state, sink)
        self._header_fault: HeaderRejected | None = None
        self._recovery: SessionLines | None = None
        self._recovered_lines = 0

    def _mark(self, *, is_tail: bool = False, is_recovered: bool = False) -> None:
        self._sink.mark((self._task.source_key, self._task.batch, is_tail, is_recovered))

    def _start(self, digest: _Digest) -> tuple[FileState, bool]:
        """The state to go on from: the remembered one if the bytes before it are still the same."""
        task = self._task
        if task.resume is not None and task.prefix_sha256 is not None:
            state = load(task.resume)
            if state.offset <= self._source.size and digest.up_to(state.offset) == task.prefix_sha256:
                return state, True
        return FileState(encoding=encoding_of(self._source, task.named_encoding)), False

    def read(self) -> FileFacts:
        if self._source.size == 0:
            return self._facts("skipped", "empty-file", "the file is empty", self._state, 0, can_resume=False)
        encoding: Encoding = "zstd" if self._state.encoding == "zstd" else "plain"
        tail = NO_TAIL
        for step in read_text(
            self._source,
            encoding,
            offset=self._state.offset,
            frame=self._state.frames + 1,
            limits=self._task.limits,
        ):
            if isinstance(step, Lines):
                self._add(step)
            elif isinstance(step, Account):
                self._account(step)
            elif isinstance(step, Fault):
                self._state.is_partial = True
                self._lines.add_reject(None, step.frame, step.offset, step.code, step.message)
            elif isinstance(step, Recovered):
                self._recover(step.lines)
            else:
                tail = step
        return self._finish(tail)

    def _add(self, lines: Lines) -> None:
        state, before = self._state, self._state.line
        if self._header_fault is None:
            try:
                self._lines.add(lines)
                return
            except HeaderRejected as fault:
                self._header_fault = fault
                if not fault.is_newer:
                    self._lines.reject_line(lines, state.line - before - 1, fault.code, fault.message)
                state.line, state.lines = before, 0
        # Without a header nothing can be read; what is there is counted.
        state.line += len(lines.texts)
        state.lines += sum(1 for text in lines.texts if text.strip())

    def _account(self, account: Account) -> None:
        state = self._state
        state.offset = account.end
        if account.kind is PieceKind.TEXT:
            state.good_frame_bytes += account.size
            state.decoded_bytes += account.text_bytes
            state.frames = account.frame
            self._sink.relieve(account.text_bytes)
        elif account.kind is PieceKind.SKIPPABLE:
            state.skippable_frames += 1
            state.skippable_bytes += account.size
        elif account.kind is PieceKind.BAD:
            state.frames = account.frame
            state.bad_frames += 1
            state.bad_frame_bytes += account.size
        else:
            state.unframed_bytes += account.size

    # -- the end of the file -------------------------------------------------------------------------------

    def _finish(self, tail: Tail) -> FileFacts:
        state = self._state
        self._note_names()
        self._mark(is_tail=True)
        if tail.size:
            self._lines.add_reject(None, 0, tail.offset, tail.code, tail.message)
        elif tail.rest:
            message = "the last complete frame ends inside a line; the line is not read"
            self._lines.add_reject(state.line + 1, state.frames, None, "unterminated-line", message)
        end_state = self._recovery.state if self._recovery else state
        status, code, about = self._status(end_state, bool(tail.size or tail.rest))
        return self._facts(status, code, about, end_state, tail.size, can_resume=not tail.rest)

    def _note_names(self) -> None:
        """Remarks on a file name that its content contradicts; once, when the header is first read."""
        task, state = self._task, self._state
        if self._is_continued:
            return
        if task.named_encoding is not None and task.named_encoding != state.encoding and state.lines:
            message = (
                f"the name says {task.named_encoding}, the content is {state.encoding}; the content decides"
            )
            state.note("warn", "encoding-disagrees", message)
        header = state.header
        if header and task.generation is not None and task.generation != header.format_version:
            message = (
                f"the header says version {header.format_version}, the name says {task.generation}; "
                "the header decides"
            )
            state.note("warn", "name-disagrees", message, line=1)

    def _recover(self, lines: Lines) -> None:
        """Rows from the whole lines of a torn frame. They count for nothing but their own number, and
        what they do to the state is forgotten: the next scan goes on before them."""
        if self._header_fault is not None:
            return
        if self._recovery is None:
            self._mark(is_tail=True, is_recovered=True)
            self._recovery = SessionLines(self._state.copy(), self._sink, is_recovered=True)
        with suppress(HeaderRejected):
            self._recovery.add(lines)
            self._recovered_lines += sum(1 for text in lines.texts if text.strip())

    def _status(self, end_state: FileState, is_torn: bool) -> tuple[str, str | None, str | None]:
        """Status, message, and the finding's code where no row of ``rejects`` tells it."""
        fault = self._header_fault
        if fault is not None and fault.is_newer:
            return "skipped", fault.code, fault.message
        if fault is not None:
            return "failed", None, fault.message
        if end_state.header is None:
            return "failed", "no-header", "no header could be read"
        if is_torn or end_state.is_partial:
            return "partial", None, None
        return "ok", None, None

    def _facts(
        self,
        status: str,
        code: str | None,
        message: str | None,
        end_state: FileState,
        torn_tail_bytes: int,
        *,
        can_resume: bool,
    ) -> FileFacts:
        state, stat = self._state, self._stat
        can_resume = can_resume and status in ("ok", "partial") and state.header is not None
        digest = self._signature() if can_resume else None
        return FileFacts(
            source_key=self._task.source_key,
            status=status,
            code=code,
            message=message,
            stated_version=self._stated_version(),
            state=state,
            header=end_state.header,
            notes=(*(state.notes | end_state.notes).values(), *_closing_notes(end_state)),
            has_repeated_calls=state.has_repeated_calls or end_state.has_repeated_calls,
            torn_tail_bytes=torn_tail_bytes,
            recovered_lines=self._recovered_lines,
            resume=dump(state) if digest is not None else None,
            prefix_sha256=digest,
            is_continued=self._is_continued,
            size_bytes=self._source.size,
            mtime_ns=stat.st_mtime_ns,
            ctime_ns=stat.st_ctime_ns,
            inode=stat.st_ino,
            is_racy=self._is_racy,
        )

    def _stated_version(self) -> int | None:
        """The format that a file from a newer DSH says it has, where a column can hold the number."""
        version = self._header_fault.version if self._header_fault is not None else None
        return version if version is not None and version < 2**63 else None

    def _signature(self) -> str | None:
        """The digest of what was read for good, None where that is not known to be what was signed."""
        if self._state.offset == self._source.size:
            return self._whole_sha256
        digest = _Digest(self._source)
        prefix = digest.up_to(self._state.offset)
        return prefix if digest.up_to(self._source.size) == self._whole_sha256 else None


class _Digest:
    """The digest of ever more of a file's beginning."""

    def __init__(self, source: FileBytes) -> None:
        self._source = source
        self._sha256 = hashlib.sha256()
        self._at = 0

    def up_to(self, size: int) -> str:
        """The digest of the first ``size`` bytes, of less where the file has become shorter."""
        while block := self._source.read_at(self._at, min(_HASH_BLOCK_BYTES, size - self._at)):
            self._sha256.update(block)
            self._at += len(block)
        return self._sha256.hexdigest()


def _closing_notes(state: FileState) -> list[Note]:
    """Remarks that only the end of the file can tell."""
    header = state.header
    if header and header.is_seeded and header.format_version >= 2 and state.inherited_cut == NO_CUT:
        message = "the session is seeded but no marker says where its own events begin; all count as its own"
        return [Note("warn", "no-seed-marker", message, count=1)]
    return []
