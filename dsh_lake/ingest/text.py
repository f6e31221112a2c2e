"""The bytes of a file as numbered lines, whatever they are wrapped in, and the faults between them.

The plaintext of all good frames is joined and split at LF only; nothing is added between frames.
A line may begin in one frame and end in another. Text is held in batches of a few MiB, so memory does
not grow with the file; a line longer than ``line_bytes`` is passed over and reported.

Source: session-archive.md section 2.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, repeat
from operator import add, attrgetter
from typing import Literal, NamedTuple

import pyarrow as pa

from dsh_lake.frames import ByteSource, FrameLimits, Piece, PieceKind, Run, looks_like_zstd, read_runs

Encoding = Literal["zstd", "plain"]
_MOST_FRAMES = 10_000
"""Frames whose text is held at once, however little each gives."""
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class TextLimits:
    """Bounds of what is held in memory, in bytes."""

    batch_bytes: int = 4 << 20
    """Decoded text gathered before it is split into lines."""
    line_bytes: int = 64 << 20
    """Longest line that is read."""
    frames: FrameLimits = field(default_factory=FrameLimits)


class Mark(NamedTuple):
    """Where the text of a frame begins: position in a batch's text, ordinal, byte of the file. A plain
    file has one mark of frame 0 at the byte at which the batch begins."""

    position: int
    frame: int
    offset: int


_position_of = attrgetter("position")


@dataclass(slots=True)
class Lines:
    """A batch of whole lines, without their LF, in order. ``marks`` are sorted by position and say which
    frame a line begins in. ``is_odd``: some line is not valid UTF-8, or ends in CR."""

    texts: list[bytes]
    marks: list[Mark]
    is_odd: bool
    _starts: list[int] | None = None

    def starts(self) -> list[int]:
        """The position at which each line begins, and that behind the last."""
        if self._starts is None:
            sizes = map(add, map(len, self.texts), repeat(1))
            self._starts = list(accumulate(sizes, initial=0))
        return self._starts

    def frames(self) -> list[int | None]:
        """The ordinal of the frame in which each line begins, None outside frames."""
        starts, total = self.starts(), len(self.texts)
        frames: list[int | None] = []
        for mark, following in pairwise(self.marks):
            end = bisect_left(starts, following.position, hi=total)
            frames += repeat(mark.frame or None, end - len(frames))
        frames += repeat(self.marks[-1].frame or None, total - len(frames))
        return frames

    def mark_at(self, position: int) -> Mark:
        """The mark of the frame in which the text at ``position`` lies."""
        return self.marks[bisect_right(self.marks, position, key=_position_of) - 1]

    def cuts(self, position: int, size: int) -> list[int]:
        """Where frames begin inside a line: positions relative to the line's beginning."""
        first = bisect_right(self.marks, position, key=_position_of)
        last = bisect_left(self.marks, position + size, first, key=_position_of)
        return [mark.position - position for mark in self.marks[first:last]]


class Fault(NamedTuple):
    """Bytes that gave no text, or a line that is passed over; ``frame`` is 0 outside frames."""

    offset: int
    frame: int
    code: str
    message: str


class Account(NamedTuple):
    """A stretch of the file that is done with: its kind, compressed and decoded size, the byte at which it
    ends and the ordinal of the last frame in it."""

    kind: PieceKind
    end: int
    size: int
    frame: int
    text_bytes: int


class Recovered(NamedTuple):
    """Whole lines that decode from a torn last frame."""

    lines: Lines


class Tail(NamedTuple):
    """What follows the last complete frame (or line of a plain file), and ``rest``: the bytes of text
    after the last LF of what is complete."""

    size: int
    offset: int
    rest: int
    code: str
    message: str


Step = Lines | Fault | Account | Recovered | Tail
NO_TAIL = Tail(0, 0, 0, "", "")


def encoding_of(source: ByteSource, named: str | None) -> Encoding:
    """How the file is encoded: its content decides, its name only where the content says nothing."""
    is_zstd = looks_like_zstd(source.read_at(0, 64))
    if is_zstd is None:
        return "zstd" if named == "zstd" else "plain"
    return "zstd" if is_zstd else "plain"


def read_text(
    source: ByteSource, encoding: Encoding, *, offset: int = 0, frame: int = 1, limits: TextLimits
) -> Iterator[Step]:
    """Lines, faults and byte accounts of a file in order; a :class:`Tail` comes last, always.

    Args:
        offset: where to begin: 0, or the end of a complete frame (or plain line) at a line's end.
        frame: the ordinal of the frame that begins there.
    """
    if encoding == "plain":
        return _read_plain(source, offset, limits)
    return _Splitter(limits).read(read_runs(source, offset=offset, frame=frame, limits=limits.frames))


def is_valid_utf8(text: bytes) -> bool:
    """Whether the text is well-formed UTF-8, without making a copy of it."""
    if text.isascii():
        return True
    offsets = pa.py_buffer((0).to_bytes(8, "little") + len(text).to_bytes(8, "little"))
    array = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(text)])
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_odd(text: bytes) -> bool:
    return b"\r" in text or not is_valid_utf8(text)


class _Splitter:
    """Joins the text of frames, splits it into lines, and remembers where each frame begins."""

    def __init__(self, limits: TextLimits) -> None:
        self._limits = limits
        self._texts: list[bytes] = []
        self._held = 0
        self._has_line_end = False
        self._carry = b""
        self._marks: list[Mark] = []  # positions count from the beginning of the carry
        self._is_skipping = False
        self._account = Account(PieceKind.TEXT, 0, 0, 0, 0)

    def read(self, pieces: Iterator[Run | Piece]) -> Iterator[Step]:
        tail = None
        for piece in pieces:
            if isinstance(piece, Run) or piece.kind is PieceKind.TEXT:
                self._hold(piece if isinstance(piece, Run) else piece.run())
                if self._is_due():
                    yield from self._flush()
            elif piece.kind is PieceKind.TORN:
                yield from self._flush()
                tail = tail or Tail(0, piece.offset, len(self._carry), "", "")
                tail = tail._replace(size=tail.size + piece.size, code=piece.code, message=piece.reason)
                yield from self._recover(piece)
            else:
                yield from self._flush()
                yield Account(piece.kind, piece.offset + piece.size, piece.size, piece.frame, 0)
                if piece.kind is not PieceKind.SKIPPABLE:
                    yield Fault(piece.offset, piece.frame, piece.code, piece.reason)
        yield from self._flush()
        yield tail or NO_TAIL._replace(rest=len(self._carry))

    def _is_due(self) -> bool:
        """Whether enough is held. Text without a line end is held on, to be joined once and not piece by
        piece, until the line ends or is too long to be read."""
        if len(self._texts) >= _MOST_FRAMES:
            return True
        limit = self._limits.batch_bytes if self._has_line_end else self._limits.line_bytes
        return self._held >= limit

    def _hold(self, run: Run) -> None:
        """Keep the text of frames that follow each other."""
        starts, texts, frame, end = run
        positions = list(accumulate(map(len, texts), initial=len(self._carry) + self._held))
        self._held = positions.pop() - len(self._carry)
        frames = range(frame, frame + len(texts))
        self._marks.extend(map(Mark._make, zip(positions, frames, starts, strict=True)))
        self._texts.extend(texts)
        self._has_line_end = self._has_line_end or any(b"\n" in text for text in texts)
        size = self._account.size + end - starts[0]
        self._account = Account(PieceKind.TEXT, end, size, frames[-1], self._held)

    def _flush(self) -> Iterator[Step]:
        """The lines that are whole by now; what follows the last LF is carried on."""
        if not self._texts:
            return
        text = b"".join((self._carry, *self._texts))
        parts = text.split(b"\n")
        carry = parts.pop()
        marks, kept = self._marks, len(text) - len(carry)
        self._carry, self._texts, self._held, self._has_line_end = carry, [], 0, False
        self._marks = _marks_from(marks, kept) if carry else []
        if self._is_skipping and parts:
            # The end of a line that is passed over: its place stays, its text is gone.
            parts[0], self._is_skipping = b"", False
        if parts:
            yield Lines(parts, marks, _is_odd(text))
        yield self._account
        self._account = Account(PieceKind.TEXT, 0, 0, 0, 0)
        if len(carry) > self._limits.line_bytes:
            if not self._is_skipping:
                mark = self._marks[0]
                yield Fault(mark.offset, mark.frame, "line-too-long", _too_long(self._limits))
            self._carry, self._marks, self._is_skipping = b"", [], True

    def _recover(self, torn: Piece) -> Iterator[Step]:
        """The lines that are whole in the next stretch of a torn frame."""
        text = self._carry + torn.text
        parts = text.split(b"\n")
        marks = [*self._marks, Mark(len(self._carry), torn.frame, torn.offset)]
        self._carry = parts.pop()
        self._marks = [Mark(0, torn.frame, torn.offset)] if self._carry else []
        if parts and not self._is_skipping:
            yield Recovered(Lines(parts, marks, _is_odd(text)))
        self._is_skipping = self._is_skipping or len(self._carry) > self._limits.line_bytes
        if self._is_skipping:
            self._carry = b""


def _marks_from(marks: list[Mark], start: int) -> list[Mark]:
    """The marks of the text from ``start`` on, counted from there."""
    inside = [mark for mark in marks if mark.position > start]
    first = marks[len(marks) - len(inside) - 1]
    return [first._replace(position=0), *(mark._replace(position=mark.position - start) for mark in inside)]


def _too_long(limits: TextLimits) -> str:
    return f"a line of more than {limits.line_bytes} bytes is passed over"


def _read_plain(source: ByteSource, offset: int, limits: TextLimits) -> Iterator[Step]:
    carry, begin, at, is_skipping = b"", offset, offset, False
    # No further than its end was when it was opened: the rest is the next scan's, like the size it goes by.
    while chunk := source.read_at(at, min(limits.batch_bytes, source.size - at)):
        at += len(chunk)
        text = carry + chunk
        parts = text.split(b"\n")
        carry = parts.pop()
        size = len(text) - len(carry)
        if parts:
            if is_skipping:
                parts[0], is_skipping = b"", False
            yield Lines(parts, [Mark(0, 0, begin)], _is_odd(text))
        if len(carry) > limits.line_bytes:
            if not is_skipping:
                yield Fault(begin + size, 0, "line-too-long", _too_long(limits))
            size, carry, is_skipping = len(text), b"", True
        begin += size
        yield Account(PieceKind.TEXT, begin, size, 0, size)
    rest = at - begin
    reason = "the file ends inside a line; it is read once the line is finished" if rest else ""
    yield Tail(rest, begin, 0, "torn-tail" if rest else "", reason)
