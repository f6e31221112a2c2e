"""The bytes of a file, cut into pieces that account for every one of them.

A session archive is a concatenation of zstd frames, one per durable append. No decoder reports "so many
good frames, then a torn tail at byte k": they stop, or drop what follows in silence. So the structure is
walked here (frame header, block headers, checksum), each complete frame is decoded from exactly its own
bytes, and whatever is no readable frame becomes a piece with a place and a reason. Bad input never raises.

Two laws hold for any bytes: the pieces are contiguous and their sizes add up to the length of the input;
and reading resumed at the end of a piece gives the pieces that follow it.

The magic number is never searched for in order to find frames: it may occur inside one. It is searched for
only after a fault, and then believed only where a whole frame walks and decodes.

Source: RFC 8878 section 3.1 (frames); session-archive.md section 2 (what DSH writes, damage).
"""

from __future__ import annotations

import heapq
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self

import zstandard

from dsh_lake.errors import UnreadableSource, UsageError

# Source: RFC 8878 sections 3.1.1 and 3.1.2, magic numbers.
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE: Final = b"\x2a\x4d\x18"  # after a first byte 0x50 to 0x5F
_MAGIC_BYTES: Final = 4
_DATA_MAGICS: Final = re.compile(re.escape(_MAGIC))
_SKIPPABLE_MAGICS: Final = re.compile(re.escape(_SKIPPABLE))

# Source: RFC 8878 section 3.1.1.2.4. A smaller window lowers the bound; libzstd does not insist, nor do we.
_BLOCK_BYTES: Final = 128 << 10
_BLOCK_HEADER: Final = 3
_RLE, _COMPRESSED, _RESERVED = 1 << 1, 2 << 1, 3 << 1  # as they stand in the block header; raw is 0
_ZEROS: Final = re.compile(rb"\0*")

# Largest history a streaming decoder is given, the limit of the zstd command line too.
_HISTORY_BYTES: Final = 128 << 20
# What is read at a time, and decoded at a time of a frame too long to be held. More is not faster.
_PART_BYTES: Final = 1 << 20
_SEARCH_BYTES: Final = 1 << 10, 64 << 10  # at first: mostly the next frame is near

# What may be spent on faults, in units of about a nanosecond (decoding a byte), and what things cost.
_WORK_BASE: Final = 1 << 30
_WORK_PER_BYTE: Final = 16
_CANDIDATE_WORK: Final = 2000
_BLOCK_WORK: Final = 150
_BYTES_WALKED_PER_WORK: Final = 4


def _header_sizes() -> tuple[tuple[int, int], ...]:
    """Per frame header descriptor: bytes up to the first block, bytes of the content size.

    The content size is the last field of the header. (0, 0) where the reserved bit is set.
    Source: RFC 8878 section 3.1.1.1.1.
    """
    sizes = []
    for descriptor in range(256):
        is_single_segment = descriptor >> 5 & 1
        content = (is_single_segment, 2, 4, 8)[descriptor >> 6]
        window = 1 - is_single_segment
        dictionary = (0, 1, 2, 4)[descriptor & 3]
        is_reserved = descriptor >> 3 & 1
        header = _MAGIC_BYTES + 1 + window + dictionary + content
        sizes.append((0, 0) if is_reserved else (header, content))
    return tuple(sizes)


_HEADER_SIZES: Final = _header_sizes()
_START_BYTES: Final = max(header for header, _ in _HEADER_SIZES) + _BLOCK_HEADER
"""A frame that begins with this many bytes shows its whole header and that of its first block."""


@dataclass(frozen=True, slots=True)
class FrameLimits:
    """How much one frame may give, and how much is held at once.

    Attributes:
        frame_bytes: decoded bytes that one frame may give; a frame of more is bad (``frame-too-large``),
            and of a torn one no more is given.
        window_bytes: the most that is held of the file, and of the text, at once; 128 KiB at least, one
            block. The text of a longer frame comes in several pieces. (The decoder's own memory comes on
            top: what a long frame may refer back to, mostly 8 MiB or less, 128 MiB at the most.)
    """

    frame_bytes: int = 1 << 30
    window_bytes: int = 8 << 20

    def __post_init__(self) -> None:
        if self.frame_bytes < 1 or self.window_bytes < 1:
            raise UsageError("frame_bytes and window_bytes are whole numbers of bytes from 1 on")


class PieceKind(Enum):
    """What a run of bytes is."""

    TEXT = "text"
    """A data frame that decodes."""
    BAD = "bad"
    """A data frame, complete by its structure, that does not decode or is too large."""
    SKIPPABLE = "skippable"
    """A skippable frame; its content means nothing to a reader."""
    UNFRAMED = "unframed"
    """Bytes that belong to no readable frame, passed over to reach the next one."""
    TORN = "torn"
    """What is left at the end when no further frame decodes."""


class Piece(NamedTuple):
    """A run of compressed bytes and what became of it.

    A text longer than the window comes in several pieces with the same offset and frame. All but the last
    have size 0, no code and no reason; so ``offset + size`` is always a place to resume from.

    Attributes:
        kind: what the bytes are.
        offset: first byte.
        size: bytes this piece accounts for; 0 when the next piece continues it.
        frame: 1-based ordinal among the complete data frames, good or bad; 0 for what is none.
        text: decoded bytes (TEXT), the decodable beginning (TORN), else empty.
        code: ``corrupt-frame``, ``frame-too-large``, ``no-frame``, ``torn-tail``, or empty when all is well.
        reason: one sentence for a human, without content.
    """

    kind: PieceKind
    offset: int
    size: int
    frame: int
    text: bytes
    code: str
    reason: str

    def run(self) -> Run:
        """A TEXT piece as a run of itself."""
        return Run([self.offset], [self.text], self.frame, self.offset + self.size)


class Run(NamedTuple):
    """Text frames that follow each other directly: the same as a TEXT piece for each of them.

    Attributes:
        starts: first byte of each frame.
        texts: what each decodes to.
        frame: ordinal of the first.
        end: where the last one ends.
    """

    starts: list[int]
    texts: list[bytes]
    frame: int
    end: int

    def pieces(self) -> Iterator[Piece]:
        """The frames one by one."""
        ends = [*self.starts[1:], self.end]
        for number, (start, end, text) in enumerate(zip(self.starts, ends, self.texts, strict=True)):
            yield Piece(PieceKind.TEXT, start, end - start, self.frame + number, text, "", "")


class ByteSource(Protocol):
    """Bytes with a length that can be read anywhere."""

    @property
    def size(self) -> int:
        """Length in bytes when the source was opened; what is appended later is not read."""

    def read_at(self, offset: int, size: int) -> bytes:
        """The ``size`` bytes from ``offset`` on; fewer only where the source ends."""


class MemoryBytes:
    """A byte string as a source."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.size = len(content)

    def read_at(self, offset: int, size: int) -> bytes:
        """See `ByteSource`."""
        return self._content[offset : offset + size]


class FileBytes:
    """A regular file as a source; close it, or use it in a ``with`` statement.

    Read, not mapped: a file that is cut while it is mapped ends the process.

    Raises:
        UnreadableSource: the file cannot be opened or read, or is none (a folder, a pipe).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
                raise UnreadableSource(str(path), "not a regular file")
            self._file = path.open("rb", buffering=0)
        except OSError as error:
            raise UnreadableSource(str(path), error.strerror or str(error)) from error
        self.size = os.fstat(self._file.fileno()).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """See `ByteSource`."""
        try:
            self._file.seek(offset)
            content = self._file.read(size)
            while len(content) < size and (more := self._file.read(size - len(content))):
                content += more  # the system gives about 2 GiB at a time, and less when interrupted
        except OSError as error:
            raise UnreadableSource(str(self._path), error.strerror or str(error)) from error
        return content

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def looks_like_zstd(head: bytes) -> bool | None:
    """Whether a file that begins with ``head`` is framed; None when its first bytes do not say.

    True: a zstd or skippable magic number. False: JSON text (byte order mark, white space, ``{``).
    None: anything else, also a head too short to tell; then the file's name has to decide.

    >>> looks_like_zstd(bytes.fromhex("28b52ffd24")), looks_like_zstd(b'{"type"'), looks_like_zstd(b"")
    (True, False, None)
    """
    if _is_magic(head[:_MAGIC_BYTES]):
        return True
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    return False if text.startswith(b"{") or (head and not text) else None


def _is_magic(head: bytes) -> bool:
    return head == _MAGIC or (head[1:] == _SKIPPABLE and head[0] >> 4 == 5)


def _may_become_magic(head: bytes) -> bool:
    """Whether ``head``, shorter than a magic number, is the beginning of one."""
    return _MAGIC.startswith(head) or (_SKIPPABLE.startswith(head[1:]) and head[0] >> 4 == 5)


def _content_size(window: bytes, end: int, width: int) -> int:
    """The content size that a frame header ending at ``end`` states in its last ``width`` bytes.

    Source: RFC 8878 section 3.1.1.1.4: a field of two bytes counts from 256.
    """
    return int.from_bytes(window[end - width : end], "little") + (256 if width == 2 else 0)


def read_frames(
    source: ByteSource, *, offset: int = 0, frame: int = 1, limits: FrameLimits | None = None
) -> Iterator[Piece]:
    """The pieces of a source from ``offset`` on, in order.

    Boundaries come from the structure of the frames. A frame that is whole but does not decode is BAD, and
    reading goes on behind it when the file ends there, a frame begins there, or no frame decodes inside it.
    After any other fault reading goes on at the first place where a frame walks and decodes, or where
    skippable frames lead to one (a skippable frame alone is four bytes of evidence without a checksum).
    The bytes before it are one UNFRAMED piece. Where there is no such place, the rest is TORN, with the
    text of the whole blocks at its beginning.

    What faults cost is bounded in proportion to the file. A file made to cost more gets its rest as one
    UNFRAMED piece with a reason that says so.

    Args:
        source: where the bytes are; when it turns out shorter than its size, it ends there.
        offset: where to begin, 0 or the end of an earlier piece.
        frame: ordinal of the first data frame from there on.
        limits: bounds of memory and of what one frame may give.

    Returns:
        Pieces, lazily. Memory is bounded by the limits, not by the file or its frames.

    Raises:
        UnreadableSource: the operating system failed to read; never for what the bytes are.
    """
    for found in read_runs(source, offset=offset, frame=frame, limits=limits):
        if isinstance(found, Run):
            yield from found.pieces()
        else:
            yield found


def read_runs(
    source: ByteSource, *, offset: int = 0, frame: int = 1, limits: FrameLimits | None = None
) -> Iterator[Run | Piece]:
    """As :func:`read_frames`, with small sound frames in runs: most files are little else."""
    return _Reader(source, offset, frame, limits or FrameLimits()).pieces()


# How far a walk came. (Plain numbers: members of an Enum are slow to look up in Python 3.11.)
_WHOLE: Final = 0
_SKIPPED: Final = 1  # a whole skippable frame
_CUT: Final = 2  # sound as far as it goes, but the file ends in it
_BROKEN: Final = 3  # no frame, or one with a reserved bit or with a block that cannot be
_INSIDE: Final = 4  # not over: the next block header is still to be read


class _Shape(NamedTuple):
    """What a walk found.

    Attributes:
        end: where the frame ends; how far the walk came when it is not whole.
        declared: content size, -1 when the frame states none.
        bound: decoded bytes that its blocks can give at most, and 3 for each block.
        blocks: how many it has.
    """

    state: int
    end: int
    declared: int
    bound: int
    blocks: int


class _Window:
    """The part of a source that is in memory, and the walk over frames through it."""

    def __init__(self, source: ByteSource, width: int) -> None:
        self._source = source
        self._width = min(max(width, _START_BYTES), _PART_BYTES)
        self.size = source.size
        self._base = 0
        self._bytes = b""
        self._view = memoryview(b"")

    def fetch(self, start: int, end: int) -> bytes | memoryview:
        """The bytes from start to end; fewer, and a smaller ``size``, where the source has become shorter."""
        base = self._base
        if base <= start and end <= base + len(self._bytes):
            return self._view[start - base : end - base]
        return self._read(start, end - start)

    def _read(self, start: int, size: int) -> bytes:
        size = max(0, min(size, self.size - start))
        found = self._source.read_at(start, size)
        if len(found) < size:
            self.size = start + len(found)
        return found

    def _load(self, start: int) -> None:
        self._bytes = self._read(start, self._width)
        self._view = memoryview(self._bytes)
        self._base = start

    def loaded(self, start: int) -> tuple[bytes, int]:
        """What is in memory, and where that begins; the header of what is at ``start`` is in it."""
        at = start - self._base
        if at < 0 or (at + _START_BYTES > len(self._bytes) and self._base + len(self._bytes) < self.size):
            self._load(start)
        return self._bytes, self._base

    def walk(self, start: int) -> _Shape:
        """The structure of what is at ``start``.

        Source: RFC 8878 section 3.1.1 (order of the parts, checksum) and 3.1.1.1 (header).
        """
        window, base = self.loaded(start)
        at = start - base
        if window[at : at + 4] != _MAGIC:
            return self._walk_skippable(start, window[at : at + 8])
        try:
            descriptor = window[at + 4]
            header, width = _HEADER_SIZES[descriptor]
        except IndexError:
            return _Shape(_CUT, self.size, -1, 0, 0)
        if not header:
            return _Shape(_BROKEN, start, -1, 0, 0)
        at += header
        declared = _content_size(window, at, width) if width else -1
        state, end, bound, blocks = self._walk_all_blocks(base + at)
        if state == _WHOLE:
            end += descriptor & 4
            if end > self.size:
                state, end = _CUT, self.size
        return _Shape(state, end, declared, bound, blocks)

    def _walk_all_blocks(self, start: int) -> tuple[int, int, int, int]:
        """As `walk_blocks`, through as many windows as it takes."""
        state, end, bound, blocks = self.walk_blocks(start, sys.maxsize)
        while state == _INSIDE:
            state, end, more_bound, more_blocks = self.walk_blocks(end, sys.maxsize)
            bound += more_bound
            blocks += more_blocks
        return state, end, bound, blocks

    def walk_blocks(self, start: int, enough: int) -> tuple[int, int, int, int]:
        """A run of blocks from the header at ``start`` on: state, end, bound, blocks as in `_Shape`.

        It ends with the last block (WHOLE), where the window does, or once the bound is ``enough`` (INSIDE).
        Ends are computed from the block headers, so they may lie beyond the end of the source.

        Source: RFC 8878 section 3.1.1.2.
        """
        stop = self._base + len(self._bytes)
        if start + _BLOCK_HEADER > self.size:
            return _CUT, self.size, 0, 0
        if start < self._base or start + _BLOCK_HEADER > stop:
            self._load(start)
        window, base = self._bytes, self._base
        at, last, bound, blocks = start - base, len(window) - _BLOCK_HEADER, 0, 0
        while at <= last and bound < enough:
            header = window[at] | window[at + 1] << 8 | window[at + 2] << 16
            size = header >> 3
            kind = header & 6
            # A compressed block has two bytes at least; a streaming decoder passes over one of none.
            if size > _BLOCK_BYTES or kind == _RESERVED or (kind == _COMPRESSED and not size):
                return _BROKEN, base + at, bound, blocks
            blocks += 1
            if not header:
                size = self._empty_blocks(at)
                at += size
                bound += size
                continue
            at += _BLOCK_HEADER + (1 if kind == _RLE else size)
            bound += _BLOCK_HEADER + (_BLOCK_BYTES if kind == _COMPRESSED else size)
            if header & 1:
                return _WHOLE, base + at, bound, blocks
        return _INSIDE, base + at, bound, blocks

    def _empty_blocks(self, at: int) -> int:
        """Length of the run of empty blocks at ``at``: what file systems leave after a crash reads as one."""
        zeros = _ZEROS.match(self._bytes, at)
        assert zeros is not None
        size = zeros.end() - at
        return size - size % _BLOCK_HEADER

    def _walk_skippable(self, start: int, head: bytes) -> _Shape:
        """As `walk`, for what does not begin like a data frame. Source: RFC 8878 section 3.1.2."""
        if len(head) < 4:
            state = _CUT if _may_become_magic(head) else _BROKEN
            return _Shape(state, start + len(head), -1, 0, 0)
        if not _is_magic(head[:4]):
            return _Shape(_BROKEN, start, -1, 0, 0)
        end = start + 8 + int.from_bytes(head[4:], "little")
        if len(head) < 8 or end > self.size:
            return _Shape(_CUT, self.size, -1, 0, 0)
        return _Shape(_SKIPPED, end, -1, 0, 0)


class _TooLarge(Exception):
    """A frame gives more than it may."""


class _Reader:
    """Decodes what the walk finds, and decides where to go on after a fault."""

    def __init__(self, source: ByteSource, offset: int, frame: int, limits: FrameLimits) -> None:
        self._window = _Window(source, limits.window_bytes)
        self._offset = offset
        self._frame = frame
        self._limits = limits
        self._held = min(limits.window_bytes, limits.frame_bytes)
        self._step = min(self._held, _PART_BYTES)
        self._decoder = zstandard.ZstdDecompressor(max_window_size=_HISTORY_BYTES)
        self._work = _WORK_BASE + _WORK_PER_BYTE * max(0, self._window.size - offset)

    def pieces(self) -> Iterator[Run | Piece]:
        """See `read_runs`."""
        window, decode = self._window, self._decode
        start, frame = self._offset, self._frame
        while start < window.size:
            run = self._run(start, frame)
            if run.texts:
                yield run
                start = run.end
                frame += len(run.texts)
                continue
            shape = window.walk(start)
            end = shape.end
            if shape.state == _WHOLE:
                try:
                    text = decode(start, shape)
                except (zstandard.ZstdError, _TooLarge) as error:
                    if end > window.size:
                        continue  # the file has become shorter: walk again
                    piece = self._bad(start, frame, shape, error)
                    yield piece
                    start += piece.size
                    frame += piece.kind is PieceKind.BAD
                    continue
                if text is None:
                    yield from self._long(start, end, frame)
                else:
                    yield Piece(PieceKind.TEXT, start, end - start, frame, text, "", "")
                start = end
                frame += 1
            elif shape.state == _SKIPPED:
                yield Piece(PieceKind.SKIPPABLE, start, end - start, 0, b"", "", "")
                start = end
            else:
                for piece in self._faulty(start, shape):
                    yield piece
                    start += piece.size

    def _run(self, start: int, frame: int) -> Run:
        """The frames from ``start`` on that are in memory as a whole, of one block and sound.

        Nearly every append of DSH is such a frame: walked and decoded here in one loop, at a third of the
        cost. What is anything else ends the run and is left to the walk that knows all shapes.

        Source: RFC 8878 sections 3.1.1 (order of the parts) and 3.1.1.2 (block header).
        """
        content, base = self._window.loaded(start)
        decompress, sizes = self._decoder.decompress, _HEADER_SIZES
        at, last, size, left = start - base, len(content) - _START_BYTES, len(content), self._step
        starts: list[int] = []
        texts: list[bytes] = []
        while at <= last and content[at : at + 4] == _MAGIC:
            descriptor = content[at + 4]
            header, width = sizes[descriptor]
            body = at + header
            block = content[body] | content[body + 1] << 8 | content[body + 2] << 16
            end = body + _BLOCK_HEADER + (block >> 3) + (descriptor & 4)
            # One block, the last, raw or compressed. (No header at all: a reserved bit is set.)
            if not header or block & 3 != 1 or block >> 3 > _BLOCK_BYTES or end > size:
                break
            if block == _COMPRESSED | 1:  # of no bytes, which is none
                break
            bound = 0
            if width:
                most = _content_size(content, body, width)
            else:
                most = bound = _BLOCK_HEADER + (_BLOCK_BYTES if block & 4 else block >> 3)
            if not 0 < most <= left:
                break
            try:
                text = decompress(content[at:end], bound, False, False)
            except zstandard.ZstdError:
                break
            texts.append(text)
            starts.append(base + at)
            at = end
            left -= len(text)
        return Run(starts, texts, frame, base + at)

    def _decode(self, start: int, shape: _Shape) -> bytes | None:
        """The text of a frame; None when it decodes but is too long to be held.

        Raises ZstdError when it does not decode, _TooLarge when it gives more than a frame may.
        """
        _, end, declared, bound, _ = shape
        held = self._held
        if end - start <= held:
            # A declared 0 is believed by the one-shot call without a look at the blocks.
            if 0 < declared <= held:
                return self._decoder.decompress(self._window.fetch(start, end), 0, False, False)
            if declared < 0 and bound <= held:
                return self._decoder.decompress(self._window.fetch(start, end), bound, False, False)
        most = self._limits.frame_bytes
        if declared > most:
            raise _TooLarge
        parts: list[bytes] = []
        size = 0
        for text in self._stream(start, end, self._step):
            size += len(text)
            if size > most:
                raise _TooLarge
            if size > self._step:
                parts.clear()
            elif text:
                parts.append(text)
        # Where the last block is empty and no checksum follows, a streaming decoder does not look at this.
        if declared not in (-1, size):
            raise zstandard.ZstdError("the content size is wrong")
        return b"".join(parts) if size <= self._step else None

    def _stream(self, start: int, end: int, step: int) -> Iterator[bytes]:
        """The text of the frame from start to end, whole blocks at a time.

        Each part is at most ``step`` bytes, or one block; with a step of 1, always one block, so that
        all before a damaged block is given. Parts stop where whole blocks do.
        Raises ZstdError when a block or the checksum is wrong, or the end is missing.
        """
        window = self._window
        decoder = self._decoder.decompressobj()
        done = start
        at = start + zstandard.frame_header_size(window.fetch(start, start + _START_BYTES))
        state = _INSIDE
        while state == _INSIDE:
            state, at, _, _ = window.walk_blocks(at, max(1, step - _BLOCK_BYTES))
            if at > end or state not in (_WHOLE, _INSIDE):
                break
            if state == _WHOLE:
                at = end  # and the checksum
            yield decoder.decompress(window.fetch(done, at))
            done = at
        if not decoder.eof:
            raise zstandard.ZstdError("the frame has no end")

    def _long(self, start: int, end: int, frame: int) -> Iterator[Piece]:
        """The pieces of a frame that decodes but is too long to be held."""
        last = Piece(PieceKind.TEXT, start, end - start, frame, b"", "", "")
        try:
            yield from _parts(last, self._stream(start, end, self._step))
        except zstandard.ZstdError:
            reason = "the file was changed while this frame was read; scan it again"
            yield last._replace(kind=PieceKind.BAD, code="corrupt-frame", reason=reason)

    def _bad(self, start: int, frame: int, shape: _Shape, error: Exception) -> Piece:
        """A frame that is complete but does not decode, unless it leads nowhere and holds a frame."""
        found = self._frame_inside(start, shape)
        if found is not None:
            return _unframed(start, found)
        code, reason = self._diagnosis(start, error)
        return Piece(PieceKind.BAD, start, shape.end - start, frame, b"", code, reason)

    def _frame_inside(self, start: int, shape: _Shape) -> int | None:
        """Where a frame decodes inside one whose length is not to be believed; None when it is.

        A length is believed where the file ends behind it or a frame begins there, also one that the end
        of the file cuts: a wrong length leads to a magic number once in 2**28 times.
        """
        end = shape.end
        if end >= self._window.size:
            return None
        behind = self._window.walk(end)
        if behind.state != _BROKEN:
            return None
        self._spend_on_walk(start, shape)
        self._spend_on_walk(end, behind)
        self._spend_on_decoding(shape)
        return self._search(start + 1, end)

    def _diagnosis(self, start: int, error: Exception) -> tuple[str, str]:
        """Code and reason of a frame that does not decode."""
        if isinstance(error, _TooLarge):
            most = self._limits.frame_bytes
            return "frame-too-large", f"the frame gives more than {most} bytes, the most that one frame may"
        try:
            header = zstandard.get_frame_parameters(self._window.fetch(start, start + _START_BYTES))
        except zstandard.ZstdError:
            header = None  # only a window beyond what libzstd can count
        if header is None or header.window_size > _HISTORY_BYTES:
            return "frame-too-large", f"decoding the frame needs a window of more than {_HISTORY_BYTES} bytes"
        if header.dict_id:
            return "corrupt-frame", "the frame needs a dictionary, which DSH never uses"
        return "corrupt-frame", "the content or checksum of the frame is damaged; its lines are lost"

    def _faulty(self, start: int, shape: _Shape) -> Iterator[Piece]:
        """The pieces from a place where no whole frame begins up to the next one, or to the end."""
        self._spend_on_walk(start, shape)
        found = self._search(start + 1, self._window.size)
        size = self._window.size - start
        if found is not None:
            yield _unframed(start, found)
        elif self._work < 0:
            reason = "too many false beginnings of frames; the search for a readable one was given up"
            yield Piece(PieceKind.UNFRAMED, start, size, 0, b"", "no-frame", reason)
        elif size > 0:
            if shape.state == _CUT:
                reason = (
                    "the last frame is incomplete: still being written, or cut off by a crash; "
                    "a later scan reads it when it is complete"
                )
            else:
                reason = "from here to the end nothing is a readable frame; all before it was read"
            last = Piece(PieceKind.TORN, start, size, 0, b"", "torn-tail", reason)
            yield from _parts(last, self._rescued(start))

    def _rescued(self, start: int) -> Iterator[bytes]:
        """The text of the whole blocks at the beginning of a torn frame, as far as they decode."""
        total = 0
        try:
            for text in self._stream(start, self._window.size, 1):
                total += len(text)
                if total > self._limits.frame_bytes:
                    return
                yield text
        except zstandard.ZstdError:
            return

    def _search(self, start: int, stop: int) -> int | None:
        """The first place in start..stop where a frame decodes, maybe after skippable ones.

        None also when the work that faults may cost is used up: then ``_work`` is negative.
        """
        for at in self._magics(start, stop):
            self._work -= _CANDIDATE_WORK
            if self._work < 0:
                return None
            if self._is_readable(at):
                return at
        return None

    def _magics(self, start: int, stop: int) -> Iterator[int]:
        """Where in start..stop a magic number may stand, in order; of skippable ones 3 bytes are compared."""
        width, most = _SEARCH_BYTES
        while start < stop:
            until = min(start + width, stop)
            chunk = self._window.fetch(start, min(until + 3, self._window.size))
            data = (found.start() for found in _DATA_MAGICS.finditer(chunk))
            skippable = (found.start() - 1 for found in _SKIPPABLE_MAGICS.finditer(chunk, 1))
            for at in heapq.merge(data, skippable):
                yield start + at
            start = until
            width = min(2 * width, most)

    def _is_readable(self, start: int) -> bool:
        """Whether a frame decodes at ``start``, or behind skippable frames that begin there."""
        shape = self._window.walk(start)
        while shape.state == _SKIPPED and self._work >= 0:
            self._work -= _CANDIDATE_WORK
            start = shape.end
            shape = self._window.walk(start)
        self._spend_on_walk(start, shape)
        if shape.state != _WHOLE or not self._spend_on_decoding(shape):
            return False
        try:
            self._decode(start, shape)
        except (zstandard.ZstdError, _TooLarge):
            return False
        return True

    def _spend_on_walk(self, start: int, shape: _Shape) -> None:
        self._work -= shape.blocks * _BLOCK_WORK + (shape.end - start) // _BYTES_WALKED_PER_WORK

    def _spend_on_decoding(self, shape: _Shape) -> bool:
        """Whether there was as much left to spend."""
        text_bytes = shape.bound if shape.declared < 0 else min(shape.bound, shape.declared)
        self._work -= min(text_bytes, self._limits.frame_bytes)
        return self._work >= 0


def _unframed(start: int, end: int) -> Piece:
    reason = "these bytes belong to no readable frame; reading went on at the next frame that decodes"
    return Piece(PieceKind.UNFRAMED, start, end - start, 0, b"", "no-frame", reason)


def _parts(last: Piece, texts: Iterable[bytes]) -> Iterator[Piece]:
    """``last`` in one piece for each text that is not empty, or one without text."""
    held = b""
    for text in texts:
        if held and text:
            yield last._replace(size=0, text=held, code="", reason="")
        held = text or held
    yield last._replace(text=held)
