"""Damage of every kind: nothing raises, no byte is unaccounted for, and what is whole is still read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.frames import FileBytes, FrameLimits, MemoryBytes, Piece, PieceKind, read_frames
from tests.frames import oracle
from tests.strategies_frames import (
    BLOCK_BYTES,
    COMPRESSED,
    MAGIC,
    RAW,
    RESERVED,
    RLE,
    Part,
    archives,
    block,
    brief,
    damaged,
    data_frame,
    dsh_archives,
    framed_blocks,
    garbage,
    header,
    joined,
    pieces_of,
    skippable_frame,
    text_of,
)

ONE, TWO, THREE = (data_frame([line * 20]) for line in (b'{"n":1}\n', b'{"n":22}\n', b'{"n":333}\n'))


def content_of(parts: list[Part]) -> bytes:
    return b"".join(part.content for part in parts)


def flipped(content: bytes, at: int, bits: int = 1) -> bytes:
    changed = bytearray(content)
    changed[at] ^= bits
    return bytes(changed)


def text_pieces(pieces: list[Piece]) -> set[tuple[int, int, bytes]]:
    return {(piece.offset, piece.size, piece.text) for piece in pieces if piece.kind is PieceKind.TEXT}


# ---------------------------------------------------------------- laws


@given(damaged() | st.binary(max_size=200))
def test_any_bytes_are_accounted_for_and_say_why(content: bytes) -> None:
    for piece in joined(pieces_of(content)):
        assert bool(piece.code) == (piece.kind not in (PieceKind.TEXT, PieceKind.SKIPPABLE))
        assert bool(piece.frame) == (piece.kind in (PieceKind.TEXT, PieceKind.BAD))
        assert not piece.text or piece.kind in (PieceKind.TEXT, PieceKind.TORN)


@given(damaged())
def test_reading_resumed_at_the_end_of_any_piece_gives_the_rest(content: bytes) -> None:
    pieces = pieces_of(content)
    frame = 1
    for at, piece in enumerate(pieces, start=1):
        if piece.size:  # else the next piece continues it, and reading resumes at the beginning of both
            frame += piece.frame > 0
            assert pieces_of(content, piece.offset + piece.size, frame) == pieces[at:]


@given(damaged(), st.integers(1, 300))
def test_a_small_window_changes_nothing(content: bytes, window_bytes: int) -> None:
    assert joined(pieces_of(content, window_bytes=window_bytes)) == joined(pieces_of(content))


@given(dsh_archives, st.data())
def test_a_cut_loses_the_torn_tail_alone(parts: list[Part], data: st.DataObject) -> None:
    content = content_of(parts)
    cut = data.draw(st.integers(0, len(content)))
    whole = [piece for piece in pieces_of(content) if piece.offset + piece.size <= cut]

    pieces = pieces_of(content[:cut])

    assert pieces[: len(whole)] == whole
    assert {piece.kind for piece in pieces[len(whole) :]} <= {PieceKind.TORN}
    torn = b"".join(piece.text for piece in pieces[len(whole) :])
    assert b"".join(part.text for part in parts)[len(text_of(whole)) :].startswith(torn)


@given(dsh_archives, st.data())
def test_a_flipped_bit_costs_one_frame(parts: list[Part], data: st.DataObject) -> None:
    content = content_of(parts)
    at = data.draw(st.integers(0, len(content) - 1))
    before = pieces_of(content)
    (hurt,) = (piece for piece in before if piece.offset <= at < piece.offset + piece.size)

    after = pieces_of(flipped(content, at, 1 << data.draw(st.integers(0, 7))))

    # A length that was flipped so that it ends where another frame does is believed.
    believed = next(
        (p.offset + p.size for p in after if p.kind is PieceKind.BAD and p.offset == hurt.offset), 0
    )
    lost = text_pieces(before) - text_pieces(after)
    assert all(offset == hurt.offset or offset < believed for offset, _, _ in lost)


@given(dsh_archives, garbage, dsh_archives)
def test_garbage_between_frames_is_one_piece(left: list[Part], foreign: bytes, right: list[Part]) -> None:
    before, after = content_of(left), content_of(right)
    pieces = pieces_of(before + foreign + after)

    assert pieces[: len(left)] == pieces_of(before)
    assert (pieces[len(left)].kind, pieces[len(left)].size) == (PieceKind.UNFRAMED, len(foreign))
    assert pieces[len(left)].code == "no-frame"
    start = len(before + foreign)
    assert pieces[len(left) + 1 :] == pieces_of(before + foreign + after, start, len(left) + 1)
    assert text_of(pieces) == b"".join(part.text for part in left + right)


@given(archives, garbage)
def test_garbage_at_the_end_is_a_torn_tail(parts: list[Part], foreign: bytes) -> None:
    content = content_of(parts)
    *whole, torn = pieces_of(content + foreign)
    assert whole == pieces_of(content)
    assert (torn.kind, torn.size, torn.text, torn.code) == (PieceKind.TORN, len(foreign), b"", "torn-tail")


# ---------------------------------------------------------------- cuts in the corpus


def test_an_archive_cut_at_any_byte_keeps_its_whole_frames(shared: Path) -> None:
    chance = random.Random(20)
    logs = sorted((shared / "corpus/sessions").glob("*/basic/**/*.zstd"))[::7]
    for path, frames in oracle.intact(logs):
        content = path.read_bytes()
        ends = [0]
        for size, _ in frames:
            ends.append(ends[-1] + size)
        cuts = {*range(ends[max(0, len(frames) - 2)], len(content)), *chance.sample(range(len(content)), 40)}
        for cut in cuts:
            pieces = pieces_of(content[:cut])
            whole = sum(end <= cut for end in ends[1:])
            assert [piece.text for piece in pieces[:whole]] == [text for _, text in frames[:whole]]
            assert {piece.kind for piece in pieces[whole:]} == (
                {PieceKind.TORN} if cut > ends[whole] else set()
            )


# ---------------------------------------------------------------- torn tails


def test_a_torn_frame_gives_the_text_of_its_whole_blocks() -> None:
    blocks = [b"first line\n" * 3, b"second line\n" * 3, b"third line\n" * 3]
    frame, ends = framed_blocks(blocks)

    for cut in range(1, len(frame)):
        (torn,) = joined(pieces_of(ONE + frame[:cut])[1:])
        whole = sum(end <= cut for end in ends)
        assert (torn.kind, torn.size, torn.text) == (PieceKind.TORN, cut, b"".join(blocks[:whole]))


def test_a_torn_frame_gives_what_comes_before_a_damaged_block() -> None:
    torn = header() + block(RAW, 3, b"ab\n") + block(COMPRESSED, 4, b"\xff" * 4) + block(RAW, 3, b"cd\n")
    (piece,) = joined(pieces_of(torn))
    assert (piece.kind, piece.text) == (PieceKind.TORN, b"ab\n")


@pytest.mark.parametrize("is_last", [True, False])
def test_half_a_stored_block_gives_no_text(is_last: bool) -> None:
    torn = header() + block(RAW, 3, b"ab\n") + block(RAW, 6, b"cd\n", is_last)
    (piece,) = joined(pieces_of(torn))
    assert (piece.kind, piece.text) == (PieceKind.TORN, b"ab\n")


def test_a_tail_of_zeros_is_torn_also_inside_a_frame() -> None:
    frame, (cut, _) = framed_blocks([b"first\n" * 9, b"second\n" * 9])
    assert brief(pieces_of(ONE + bytes(512))) == [("text", len(ONE)), ("torn", 512)]

    *_, torn = joined(pieces_of(ONE + frame[:cut] + bytes(3001)))
    assert (torn.kind, torn.size, torn.text) == (PieceKind.TORN, cut + 3001, b"first\n" * 9)


@pytest.mark.parametrize("content", [b"(", MAGIC, MAGIC + b"\x24", b"P", b"\x51\x2a\x4d\x18\1\0", bytes(9)])
def test_a_few_bytes_are_a_torn_tail(content: bytes) -> None:
    pieces = pieces_of(ONE + content)
    assert brief(pieces) == [("text", len(ONE)), ("torn", len(content))]
    assert ("incomplete" in pieces[1].reason) == any(content)


def test_a_frame_torn_in_the_middle_is_passed_over() -> None:
    torn = TWO[:-9]
    pieces = pieces_of(ONE + torn + THREE + TWO)
    assert brief(pieces) == [
        ("text", len(ONE)),
        ("unframed", len(torn)),
        ("text", len(THREE)),
        ("text", len(TWO)),
    ]
    assert [piece.frame for piece in pieces] == [1, 0, 2, 3]


# ---------------------------------------------------------------- whole frames that do not decode


def test_a_wrong_checksum_is_one_bad_frame() -> None:
    pieces = pieces_of(ONE + flipped(TWO, -1) + THREE)
    assert brief(pieces) == [("text", len(ONE)), ("bad", len(TWO)), ("text", len(THREE))]
    assert [(piece.frame, piece.code) for piece in pieces] == [(1, ""), (2, "corrupt-frame"), (3, "")]


LAST = block(RAW, 3, b"abc", is_last=True)
BEFORE_AN_EMPTY_LAST = block(RAW, 3, b"abc") + block(RAW, 0, b"", is_last=True)


@pytest.mark.parametrize("stated", [0, 2, 4])
@pytest.mark.parametrize("blocks", [LAST, BEFORE_AN_EMPTY_LAST])
@pytest.mark.parametrize("window_bytes", [1, 1 << 20])
def test_a_wrong_content_size_is_a_bad_frame(stated: int, blocks: bytes, window_bytes: int) -> None:
    frame = header(0xA0, stated.to_bytes(4, "little")) + blocks
    assert brief(pieces_of(frame + ONE, window_bytes=window_bytes)) == [
        ("bad", len(frame)),
        ("text", len(ONE)),
    ]


def test_the_checksum_of_an_empty_frame_is_checked_too() -> None:
    empty = data_frame([b""])
    assert brief(pieces_of(flipped(empty, -1) + empty)) == [("bad", len(empty)), ("text", len(empty))]


def test_a_frame_that_needs_a_dictionary_is_bad_and_says_so() -> None:
    frame = header(0x21, b"\x05\x03") + block(RAW, 3, b"abc", is_last=True)
    bad, good = pieces_of(frame + ONE)
    assert (bad.kind, bad.code, good.kind) == (PieceKind.BAD, "corrupt-frame", PieceKind.TEXT)
    assert "dictionary" in bad.reason


@pytest.mark.parametrize(
    "broken",
    [
        header(0x28, b"\x03") + block(RAW, 3, b"abc", is_last=True),
        header() + block(RESERVED, 3, b"abc", is_last=True),
        header() + block(RAW, BLOCK_BYTES + 1, bytes(BLOCK_BYTES + 1), is_last=True),
        header() + block(RLE, BLOCK_BYTES + 1, b"x", is_last=True),
        header() + block(RLE, 9, b"x") + block(COMPRESSED, BLOCK_BYTES + 1, b"x", is_last=True),
        header() + block(RAW, 3, b"abc") + block(COMPRESSED, 0, b"", is_last=True),
        header() + block(COMPRESSED, 0, b"", is_last=True),
    ],
    ids=[
        "reserved bit",
        "reserved block",
        "long raw block",
        "long run",
        "long compressed block",
        "compressed block of nothing",
        "nothing but such a block",
    ],
)
def test_what_the_format_forbids_is_no_frame(broken: bytes) -> None:
    for window_bytes in (1, 1 << 20):
        assert brief(pieces_of(ONE + broken + TWO, window_bytes=window_bytes)) == [
            ("text", len(ONE)),
            ("unframed", len(broken)),
            ("text", len(TWO)),
        ]
    assert brief(pieces_of(ONE + broken)) == [("text", len(ONE)), ("torn", len(broken))]


def test_a_bad_frame_keeps_its_length_when_a_frame_or_the_end_follows() -> None:
    bad = flipped(TWO, -1)
    for rest, kinds in ((b"", []), (skippable_frame(b"x"), ["skippable"]), (THREE[:-5], ["torn"])):
        pieces = pieces_of(ONE + bad + rest)
        assert [kind for kind, _ in brief(pieces)] == ["text", "bad", *kinds]
        assert pieces[1].size == len(bad)


@pytest.mark.parametrize("rest", [b"", ONE, ONE[:-1], skippable_frame(b"")])
def test_a_frame_inside_a_bad_frame_is_not_read_while_its_length_leads_somewhere(rest: bytes) -> None:
    bad = header(4) + block(RAW, len(TWO), TWO, is_last=True) + b"none"
    assert brief(pieces_of(bad + rest))[0] == ("bad", len(bad))


def test_a_length_that_leads_nowhere_is_not_believed_over_a_frame_inside() -> None:
    """The block of the damaged frame claims the first bytes of the next frame."""
    grown = header(0x04) + block(RAW, 20, b"0123456789", is_last=True)
    assert brief(pieces_of(ONE + grown + TWO + THREE)) == [
        ("text", len(ONE)),
        ("unframed", len(grown)),
        ("text", len(TWO)),
        ("text", len(THREE)),
    ]


def test_a_bad_frame_before_garbage_is_still_one_frame() -> None:
    bad = flipped(TWO, -1)
    assert brief(pieces_of(bad + b"garbage" + ONE)) == [
        ("bad", len(bad)),
        ("unframed", 7),
        ("text", len(ONE)),
    ]


@pytest.mark.parametrize("frame", [TWO, skippable_frame(b"x") + TWO], ids=["data", "skippable"])
def test_a_frame_is_found_behind_any_number_of_bytes(frame: bytes) -> None:
    for size in (*range(1, 9), *range(1015, 1033), *range(3065, 3080)):
        assert brief(pieces_of(b"x" * size + frame))[0] == ("unframed", size)


# ---------------------------------------------------------------- skippable frames


def test_a_skippable_frame_after_garbage_counts_when_a_frame_follows() -> None:
    """It has to: it may hold a whole frame, which is not to be read."""
    holder = skippable_frame(TWO)
    assert brief(pieces_of(b"garbage" + holder + holder + ONE)) == [
        ("unframed", 7),
        ("skippable", len(holder)),
        ("skippable", len(holder)),
        ("text", len(ONE)),
    ]


def test_a_skippable_frame_alone_does_not_end_garbage() -> None:
    alone = skippable_frame(b"nothing")
    assert brief(pieces_of(ONE + b"garbage" + alone)) == [("text", len(ONE)), ("torn", 7 + len(alone))]


def test_a_skippable_frame_without_end_is_not_believed() -> None:
    endless = b"\x50\x2a\x4d\x18" + (1 << 30).to_bytes(4, "little")
    assert brief(pieces_of(endless + ONE)) == [("unframed", 8), ("text", len(ONE))]
    assert brief(pieces_of(ONE + endless)) == [("text", len(ONE)), ("torn", 8)]


# ---------------------------------------------------------------- a file that is cut while it is read


class Shrinking(MemoryBytes):
    """A file of which another process cuts off some more each time it is read."""

    def __init__(self, content: bytes, steps: list[int]) -> None:
        super().__init__(content)
        self._length = len(content)
        self._steps = iter(steps)

    def read_at(self, offset: int, size: int) -> bytes:
        self._length = max(0, self._length - next(self._steps, 0))
        return super().read_at(offset, max(0, min(size, self._length - offset)))


@given(damaged(), st.lists(st.integers(0, 30), max_size=6), st.integers(1, 200))
def test_a_file_that_becomes_shorter_ends_there(content: bytes, steps: list[int], window_bytes: int) -> None:
    source = Shrinking(content, steps)
    end = 0
    for piece in read_frames(source, limits=FrameLimits(window_bytes=window_bytes)):
        assert piece.offset == end
        end += piece.size
    assert end <= len(content)


def test_a_file_that_is_cut_while_it_is_read_ends_in_a_torn_tail(tmp_path: Path) -> None:
    frame = data_frame([random.Random(1).randbytes(300)])
    path = tmp_path / "log"
    path.write_bytes(frame * 3)
    with FileBytes(path) as source:
        pieces = read_frames(source, limits=FrameLimits(window_bytes=400))
        whole = next(pieces)
        with path.open("r+b") as log:
            log.truncate(len(frame) + 200)
        rest = list(pieces)
    assert brief([whole, *rest]) == [("text", len(frame)), ("torn", 200)]


def test_a_long_frame_that_changes_after_it_was_checked_is_reported(tmp_path: Path) -> None:
    blocks = [random.Random(number).randbytes(300) for number in range(3)]
    frame, _ = framed_blocks(blocks, has_size=False)
    path = tmp_path / "log"
    path.write_bytes(frame + ONE)
    with FileBytes(path) as source:
        pieces = read_frames(source, limits=FrameLimits(window_bytes=100))
        first = next(pieces)
        path.write_bytes(bytes(len(frame)) + ONE)
        *_, changed, last = pieces

    assert (first.kind, first.size, first.text) == (PieceKind.TEXT, 0, blocks[0])
    assert (changed.kind, changed.offset, changed.size, changed.code) == (
        PieceKind.BAD,
        0,
        len(frame),
        "corrupt-frame",
    )
    assert (last.kind, last.frame) == (PieceKind.TEXT, 2)
