"""Bounds: memory by the window, text by the limit of a frame, work by the size of the file."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from dsh_lake.frames import FrameLimits, MemoryBytes, PieceKind, read_frames
from tests.strategies_frames import (
    BLOCK_BYTES,
    RAW,
    RESERVED,
    RLE,
    block,
    brief,
    data_frame,
    header,
    joined,
    pieces_of,
    skippable_frame,
    text_of,
)

GOOD = data_frame([b'{"type":"session"}\n'])
LAST = block(RAW, 0, b"", is_last=True)
RUN = block(RLE, BLOCK_BYTES, b"x")
MIB = 1 << 20


def peak_bytes(content: bytes, **limits: int) -> int:
    """The most memory that reading takes beyond the content, as far as Python allocates it."""
    source = MemoryBytes(content)
    tracemalloc.start()
    try:
        for _ in read_frames(source, limits=FrameLimits(**limits)):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- more text than a frame may give


@pytest.mark.parametrize("frame_bytes", [1, 1000, 65 * BLOCK_BYTES])
@pytest.mark.parametrize(
    "bomb",
    [
        header(0xE0, (1 << 50).to_bytes(8, "little")) + LAST,
        header(0xC0, b"\x58" + (1 << 50).to_bytes(8, "little")) + LAST,
        header(0xE0, b"\xff" * 8) + LAST,
        header(0xA0, (1 << 30).to_bytes(4, "little")) + RUN * 8192 + LAST,
        header() + RUN * 8192 + LAST,
    ],
    ids=["stated, not there", "stated beside a window", "stated as unknown", "stated", "not stated"],
)
def test_a_bomb_is_a_bad_frame_in_bounded_memory(bomb: bytes, frame_bytes: int) -> None:
    pieces = pieces_of(GOOD + bomb + GOOD, frame_bytes=max(frame_bytes, 100))
    assert brief(pieces) == [("text", len(GOOD)), ("bad", len(bomb)), ("text", len(GOOD))]
    assert pieces[1].code == "frame-too-large"
    assert peak_bytes(bomb, frame_bytes=frame_bytes) < 4 * MIB


def test_a_frame_of_exactly_the_limit_is_read() -> None:
    text = b"0123456789" * 30
    for has_size in (True, False):
        frame = data_frame([text], has_size=has_size)
        assert text_of(pieces_of(frame, frame_bytes=len(text))) == text
        assert [piece.code for piece in pieces_of(frame, frame_bytes=len(text) - 1)] == ["frame-too-large"]


def test_a_torn_bomb_gives_no_more_than_the_limit() -> None:
    pieces = pieces_of(header() + RUN * 8192, frame_bytes=3 * BLOCK_BYTES)
    assert [(piece.kind, len(piece.text)) for piece in joined(pieces)] == [(PieceKind.TORN, 3 * BLOCK_BYTES)]


def test_a_frame_that_refers_further_back_than_can_be_kept_is_too_large() -> None:
    for window in (18 << 3, 31 << 3):  # 256 MiB, and beyond what libzstd can count
        frame = header(rest=bytes([window])) + block(RAW, 3, b"abc", is_last=True)
        bad, good = pieces_of(frame + GOOD)
        assert (bad.kind, bad.code, good.kind) == (PieceKind.BAD, "frame-too-large", PieceKind.TEXT)


# ---------------------------------------------------------------- frames longer than the window


@pytest.mark.parametrize("has_size", [True, False])
@pytest.mark.parametrize("window_bytes", [1, BLOCK_BYTES, 300_000])
def test_a_long_frame_comes_in_parts_that_the_window_bounds(has_size: bool, window_bytes: int) -> None:
    text = b"".join(b'{"seq":%d}\n' % number for number in range(80_000))
    frame = data_frame([text], has_size=has_size)

    pieces = pieces_of(GOOD + frame + GOOD, window_bytes=window_bytes)

    assert joined(pieces) == joined(pieces_of(GOOD + frame + GOOD))
    parts = pieces[1:-1]
    assert len(parts) > 2
    assert b"".join(part.text for part in parts) == text
    assert all(0 < len(part.text) <= max(window_bytes, BLOCK_BYTES) for part in parts)
    assert [(part.offset, part.size, part.frame) for part in parts] == [
        *[(len(GOOD), 0, 2)] * (len(parts) - 1),
        (len(GOOD), len(frame), 2),
    ]


def test_a_long_frame_with_a_wrong_checksum_gives_no_text_at_all() -> None:
    frame = data_frame([b"line\n" * 100_000])
    bad = frame[:-1] + bytes([frame[-1] ^ 1])
    assert brief(pieces_of(bad + GOOD, window_bytes=BLOCK_BYTES)) == [("bad", len(bad)), ("text", len(GOOD))]


def test_memory_follows_the_window_and_not_the_frame() -> None:
    stored = b"".join(block(RAW, BLOCK_BYTES, bytes([n]) * BLOCK_BYTES) for n in range(128))
    empty = bytes(6 * MIB)  # blocks of nothing, each three zeros
    for content in (
        header() + stored + LAST,
        header() + stored,
        header() + RUN * 4096 + LAST,
        header(0xA0, (3).to_bytes(4, "little")) + empty + block(RAW, 3, b"abc", is_last=True),
    ):
        # A good frame before it, since reading all of a byte string would copy nothing.
        assert peak_bytes(GOOD + content, window_bytes=MIB) < 4 * MIB


# ---------------------------------------------------------------- files made to cost much

SIZE = 8 * MIB
EMPTY = header() + LAST


def repeated(unit: bytes) -> bytes:
    return unit * (SIZE // len(unit))


def behind_bad_frames() -> bytes:
    """Bad frames that lead to a long chain of blocks which ends nowhere, each holding a good frame.

    The good frame begins inside the bad one and covers its end, so that the chain is walked for no other
    reason than to see whether the length of the bad frame can be believed.
    """
    chain = header() + block(RAW, 28, b"")
    good = header() + block(RAW, 4 + len(chain), b"none" + chain, is_last=True)
    bad = header(4) + block(RAW, len(good) - 4 - len(chain), b"", is_last=True)
    assert len(bad + good) == 28 + 3
    return repeated(bad + good) + bytes(28) + block(RESERVED, 0, b"")


@pytest.mark.parametrize(
    "content",
    [
        repeated(header()),
        repeated(header() + block(RAW, len(header()), b"")),
        repeated(header() + block(RAW, len(EMPTY + header()), EMPTY)),
        b"x" + repeated(skippable_frame(b"")),
        repeated(b"\x50\x2a\x4d\x18\x04\0\0\0") + b"x",
        (header(4) + RUN * 64 + LAST + b"none" + b"x") * 800,
        b"x" + header() + RUN * (SIZE // 4) + LAST,
        behind_bad_frames(),
    ],
    ids=[
        "headers",
        "each frame in a block of the one before",
        "the same with an empty frame between",
        "skippable frames behind garbage",
        "each skippable frame in the one before",
        "large frames that do not decode",
        "a bomb behind garbage",
        "bad frames that lead to a chain",
    ],
)
def test_a_hostile_file_costs_no_more_than_its_size_allows(content: bytes) -> None:
    began = time.process_time()
    pieces = pieces_of(content)
    # About two seconds here; without a bound these take from minutes to days.
    assert time.process_time() - began < 20
    assert "given up" in pieces[-1].reason
    assert (pieces[-1].kind, pieces[-1].code) == (PieceKind.UNFRAMED, "no-frame")
