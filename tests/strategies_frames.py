"""zstd frames of every shape, damage to them, and what the reader should say of each.

Frames come from libzstd's own encoder, or are put together block by block from RFC 8878 where the encoder
would not write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import zstandard
from hypothesis import strategies as st

from dsh_lake.frames import FrameLimits, MemoryBytes, Piece, PieceKind, read_frames

MAGIC = bytes.fromhex("28b52ffd")
RAW, RLE, COMPRESSED, RESERVED = range(4)
BLOCK_BYTES = 128 << 10


def pieces_of(content: bytes, offset: int = 0, frame: int = 1, **limits: int) -> list[Piece]:
    """The pieces of ``content``, checked against the law that they account for every byte."""
    pieces = list(read_frames(MemoryBytes(content), offset=offset, frame=frame, limits=FrameLimits(**limits)))
    end = offset
    for piece in pieces:
        assert piece.offset == end
        end += piece.size
    assert end == len(content)
    return pieces


@dataclass(frozen=True)
class Whole:
    """A piece with its text in one: what several pieces of one long frame say together."""

    kind: PieceKind
    offset: int
    size: int
    frame: int
    text: bytes
    code: str


def joined(pieces: Sequence[Piece]) -> list[Whole]:
    """The pieces, those that continue each other made one."""
    wholes: list[Whole] = []
    text = b""
    for kind, offset, size, frame, part, code, _ in pieces:
        text += part
        if size:
            wholes.append(Whole(kind, offset, size, frame, text, code))
            text = b""
    return wholes


def brief(pieces: Sequence[Piece]) -> list[tuple[str, int]]:
    """Kind and size of each piece, for whole expectations in one line."""
    return [(piece.kind.value, piece.size) for piece in pieces]


def text_of(pieces: Sequence[Piece]) -> bytes:
    """The text of the good frames."""
    return b"".join(piece.text for piece in pieces if piece.kind is PieceKind.TEXT)


# ---------------------------------------------------------------- frames


def data_frame(
    blocks: Sequence[bytes], *, level: int = 3, has_size: bool = True, has_checksum: bool = True
) -> bytes:
    """A frame by the encoder: all at once, or with each of several texts in a block of its own."""
    if has_size and len(blocks) < 2:
        return zstandard.ZstdCompressor(level=level, write_checksum=has_checksum).compress(b"".join(blocks))
    return framed_blocks(blocks, level=level, has_size=has_size, has_checksum=has_checksum)[0]


def framed_blocks(
    blocks: Sequence[bytes], *, level: int = 3, has_size: bool = True, has_checksum: bool = True
) -> tuple[bytes, list[int]]:
    """A frame with each text in a block of its own, and where the block of each text ends in it."""
    encoder = zstandard.ZstdCompressor(level=level, write_checksum=has_checksum, write_content_size=has_size)
    stream = encoder.compressobj(size=sum(map(len, blocks)) if has_size else -1)
    frame, ends = b"", []
    for text in blocks:
        frame += stream.compress(text) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        ends.append(len(frame))
    return frame + stream.flush(), ends


def skippable_frame(content: bytes, nibble: int = 0) -> bytes:
    return bytes([0x50 + nibble]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


def block(kind: int, size: int, content: bytes, is_last: bool = False) -> bytes:
    """Source: RFC 8878 section 3.1.1.2."""
    return (size << 3 | kind << 1 | is_last).to_bytes(3, "little") + content


def header(descriptor: int = 0, rest: bytes = b"\x58") -> bytes:
    """Magic, descriptor and the fields it asks for; by default a window of 2 MiB and nothing else."""
    return MAGIC + bytes([descriptor]) + rest


@dataclass(frozen=True)
class Part:
    """A run of bytes that was put into an archive on purpose."""

    kind: PieceKind
    content: bytes
    text: bytes = b""


texts = st.binary(max_size=60) | st.builds(
    lambda line, times: line * times, st.text(min_size=1, max_size=20).map(str.encode), st.integers(1, 90)
)


@st.composite
def data_parts(draw: st.DrawFn, has_checksum: bool | None = None) -> Part:
    blocks = draw(st.lists(texts, max_size=4))
    frame = data_frame(
        blocks,
        level=draw(st.sampled_from([-5, 1, 3])),
        has_size=draw(st.booleans()),
        has_checksum=draw(st.booleans()) if has_checksum is None else has_checksum,
    )
    return Part(PieceKind.TEXT, frame, b"".join(blocks))


skippable_parts = st.builds(
    lambda content, nibble: Part(PieceKind.SKIPPABLE, skippable_frame(content, nibble)),
    st.binary(max_size=20) | data_parts().map(lambda part: part.content),
    st.integers(0, 15),
)

archives = st.lists(data_parts() | skippable_parts, max_size=8)
dsh_archives = st.lists(data_parts(has_checksum=True), min_size=1, max_size=8)
"""Data frames with checksums alone, so that damage cannot go unnoticed."""

_STARTS = frozenset([0x28, *range(0x50, 0x60)])


def _holds_no_magic(content: bytes) -> bool:
    return b"\x28\xb5" not in content and b"\x2a\x4d" not in content and content[-1] not in _STARTS


garbage: st.SearchStrategy[bytes] = st.binary(min_size=1, max_size=40).filter(_holds_no_magic)
"""Bytes in which, and at whose end, no magic number begins."""


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """An archive that was cut, flipped, spliced or written over, up to three times."""
    content = bytearray(b"".join(part.content for part in draw(archives)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        until = draw(st.integers(at, len(content)))
        kind = draw(st.sampled_from(["cut", "flip", "drop", "repeat", "zero", "insert"]))
        if kind == "cut":
            del content[at:]
        elif kind == "flip" and at < len(content):
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "drop":
            del content[at:until]
        elif kind == "repeat":
            content[at:at] = content[at:until]
        elif kind == "zero":
            content[at:until] = bytes(until - at)
        else:
            content[at:at] = draw(st.binary(max_size=30) | st.just(MAGIC))
    return bytes(content)
