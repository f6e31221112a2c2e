"""The bytes of a file as numbered lines, whatever they are wrapped in, and the faults between them.

The plaintext of all good frames is joined and split at LF only; nothing is added between frames.
A line may begin in one frame and end in another. Text is held in batches of a few MiB, so memory does
not grow with the file; a line longer than ``line_bytes`` is passed over and reported.

Source: session-archive.md section 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pyarrow as pa

from dsh_lake.frames import ByteSource, FrameLimits, Piece, PieceKind, looks_like_zstd, read_frames

Encoding = Literal["zstd", "plain"]
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class TextLimits:
    """Bounds of what is held in memory, in bytes."""

    batch_bytes: int = 4 << 20
    """Decoded text gathered before it is split into lines."""
    line_bytes: int = 256 << 20
    """Longest line that is read."""
    frames: FrameLimits = FrameLimits()


class Line(NamedTuple):
    """One line without its LF. ``frame`` is 0 in plain files; ``offset`` is the byte of the file at which
    that frame (or the plain line) begins; ``cuts`` are the positions inside the line where a frame ends."""

    text: bytes
    frame: int
    offset: int
    is_utf8: bool
    cuts: tuple[int, ...]


class Fault(NamedTuple):
    """Bytes that gave no text. ``kind`` is None for a fault of a line (too long)."""

    kind: PieceKind | None
    offset: int
    size: int
    frame: int
    code: str
    message: str


class FrameEnd(NamedTuple):
    """Bookkeeping of one complete frame (or stretch of plain text): its compressed and decoded size."""

    kind: PieceKind
    offset: int
    size: int
    frame: int
    text_bytes: int


class Tail(NamedTuple):
    """What follows the last line end. ``recovered`` are the whole lines that decode from a torn frame,
    ``rest`` the bytes of text after the last LF of the good part."""

    size: int
    offset: int
    recovered: tuple[Line, ...]
    rest: int
    code: str
    message: str


def encoding_of(source: ByteSource, named: str | None) -> Encoding:
    """How the file is encoded: its content decides, its name only where the content says nothing."""
    is_zstd = looks_like_zstd(source.read_at(0, 64))
    if is_zstd is None:
        return "plain" if named == "plain" else "zstd"
    return "zstd" if is_zstd else "plain"


def read_text(
    source: ByteSource, encoding: Encoding, *, offset: int = 0, frame: int = 1, limits: TextLimits
) -> Iterator[Line | Fault | FrameEnd | Tail]:
    """Lines, faults and byte accounts of a file in order; a :class:`Tail` comes last, always.

    Args:
        offset: where to begin: 0, or the end of a complete frame (or plain line) at a line's end.
        frame: the ordinal of the frame that begins there.
    """
    if encoding == "plain":
        return _read_plain(source, offset, limits)
    return _Splitter(limits).read(read_frames(source, offset=offset, frame=frame, limits=limits.frames))


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


class _Splitter:
    """Joins the text of frames, splits it into lines, and remembers which frame each line begins in."""

    def __init__(self, limits: TextLimits) -> None:
        self._limits = limits
        self._texts: list[bytes] = []
        self._marks: list[tuple[int, int, int]] = []  # (position in the batch, frame, offset) where frames begin
        self._held = 0
        self._carry = b""
        self._carry_marks: list[tuple[int, int, int]] = []
        self._is_skipping = False

    def read(self, pieces: Iterator[Piece]) -> Iterator[Line | Fault | FrameEnd | Tail]:
        tail: Piece | None = None
        for piece in pieces:
            if piece.kind is PieceKind.TEXT:
                self._marks.append((self._held, piece.frame, piece.offset))
                self._texts.append(piece.text)
                self._held += len(piece.text)
                yield FrameEnd(piece.kind, piece.offset, piece.size, piece.frame, len(piece.text))
                if self._held >= self._limits.batch_bytes:
                    yield from self._lines()
            elif piece.kind is PieceKind.TORN:
                tail = piece
            else:
                yield from self._lines()
                yield FrameEnd(piece.kind, piece.offset, piece.size, piece.frame, 0)
                if piece.kind is not PieceKind.SKIPPABLE:
                    yield Fault(piece.kind, piece.offset, piece.size, piece.frame, piece.code, piece.reason)
        yield from self._lines()
        yield self._tail(tail)

    def _lines(self) -> Iterator[Line | Fault]:
        start = len(self._carry)
        text = b"".join((self._carry, *self._texts))
        marks = self._carry_marks + [(at + start, frame, offset) for at, frame, offset in self._marks]
        self._texts, self._marks, self._held = [], [], 0
        parts = text.split(b"\n")
        self._carry = parts.pop()
        yield from _place(parts, marks, is_valid_utf8(text), self._is_skipping)
        if parts:
            self._is_skipping = False
        kept = len(text) - len(self._carry)
        before = [mark for mark in marks if mark[0] <= kept][-1:]
        self._carry_marks = [(0, frame, offset) for _, frame, offset in before if self._carry]
        self._carry_marks += [(at - kept, frame, offset) for at, frame, offset in marks if at > kept]
        yield from self._drop_long_carry()

    def _drop_long_carry(self) -> Iterator[Fault]:
        if len(self._carry) <= self._limits.line_bytes:
            return
        if not self._is_skipping:
            _, frame, offset = self._carry_marks[0]
            message = f"a line of more than {self._limits.line_bytes} bytes is passed over"
            yield Fault(None, offset, 0, frame, "line-too-long", message)
        self._is_skipping = True
        self._carry, self._carry_marks = b"", []

    def _tail(self, torn: Piece | None) -> Tail:
        if torn is None:
            return Tail(0, 0, (), len(self._carry), "", "")
        text = self._carry + torn.text
        parts = text.split(b"\n")[:-1]
        marks = [*self._carry_marks, (len(self._carry), torn.frame, torn.offset)]
        recovered = tuple(_place(parts, marks, is_valid_utf8(text), self._is_skipping))
        return Tail(torn.size, torn.offset, recovered, len(self._carry), torn.code, torn.reason)


def _place(
    parts: list[bytes], marks: list[tuple[int, int, int]], is_utf8: bool, skip_first: bool
) -> Iterator[Line]:
    """Lines with the frame that each begins in; ``marks`` are sorted by position."""
    position, mark, count = 0, 0, len(marks)
    for number, text in enumerate(parts):
        end = position + len(text) + 1
        while mark + 1 < count and marks[mark + 1][0] <= position:
            mark += 1
        cuts: tuple[int, ...] = ()
        following = mark + 1
        while following < count and marks[following][0] < end:
            cuts += (marks[following][0] - position,)
            following += 1
        if not (skip_first and number == 0):
            yield Line(text, marks[mark][1], marks[mark][2], is_utf8 or is_valid_utf8(text), cuts)
        position = end


def _read_plain(source: ByteSource, offset: int, limits: TextLimits) -> Iterator[Line | Fault | FrameEnd | Tail]:
    carry, begin, at, is_skipping = b"", offset, offset, False
    while chunk := source.read_at(at, limits.batch_bytes):
        at += len(chunk)
        text = carry + chunk
        parts = text.split(b"\n")
        carry = parts.pop()
        is_utf8 = is_valid_utf8(text[: len(text) - len(carry)])
        for number, part in enumerate(parts):
            size = len(part) + 1
            yield FrameEnd(PieceKind.TEXT, begin, size, 0, size)
            if not (is_skipping and number == 0):
                yield Line(part, 0, begin, is_utf8 or is_valid_utf8(part), ())
            begin += size
        is_skipping = is_skipping and not parts
        if len(carry) > limits.line_bytes:
            if not is_skipping:
                message = f"a line of more than {limits.line_bytes} bytes is passed over"
                yield Fault(None, begin, 0, 0, "line-too-long", message)
            is_skipping = True
            yield FrameEnd(PieceKind.TEXT, begin, len(carry), 0, len(carry))
            begin += len(carry)
            carry = b""
    size = at - begin
    reason = "the file ends inside a line; it is read once the line is finished" if size else ""
    yield Tail(size, begin, (), 0, "torn-tail" if size else "", reason)
