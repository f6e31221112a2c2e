"""Whole frames: boundaries, texts and order, against libzstd's own walk and the verdicts of the corpus."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.errors import UnreadableSource, UsageError
from dsh_lake.frames import (
    FileBytes,
    FrameLimits,
    Piece,
    PieceKind,
    looks_like_zstd,
    read_frames,
)
from tests.frames import oracle
from tests.strategies_frames import (
    MAGIC,
    RAW,
    RLE,
    Part,
    archives,
    block,
    data_frame,
    header,
    joined,
    pieces_of,
    skippable_frame,
    text_of,
)


def expected_of(parts: list[Part]) -> list[Piece]:
    """The pieces of an archive that was put together from these parts."""
    offsets = itertools.accumulate((len(part.content) for part in parts), initial=0)
    numbers = itertools.count(1)
    return [
        Piece(
            part.kind,
            offset,
            len(part.content),
            next(numbers) if part.kind is PieceKind.TEXT else 0,
            part.text,
            "",
            "",
        )
        for part, offset in zip(parts, offsets, strict=False)
    ]


def count(pieces: list[Piece], *kinds: PieceKind) -> int:
    return sum(piece.kind in kinds for piece in pieces)


def tail_bytes(pieces: list[Piece]) -> int:
    return sum(piece.size for piece in pieces if piece.kind is PieceKind.TORN)


def line_count(text: bytes) -> int:
    return sum(bool(line.strip()) for line in text.split(b"\n")[:-1])


# ---------------------------------------------------------------- generated archives


@given(archives)
def test_a_concatenation_gives_its_parts(parts: list[Part]) -> None:
    assert pieces_of(b"".join(part.content for part in parts)) == expected_of(parts)


@given(archives, st.integers(0, 200))
def test_what_follows_a_prefix_does_not_depend_on_it(parts: list[Part], many: int) -> None:
    content = b"".join(part.content for part in parts)
    pieces = pieces_of(content)
    for at, piece in enumerate(pieces):
        frame = many + sum(piece.frame > 0 for piece in pieces[:at])
        rest = [later._replace(frame=later.frame and later.frame + many - 1) for later in pieces[at:]]
        assert pieces_of(content, piece.offset, frame) == rest


@pytest.mark.parametrize("window_bytes", [1, 1 << 20])
def test_frames_that_only_the_format_allows(window_bytes: int) -> None:
    frames = {
        header() + block(RAW, 0, b"", is_last=True): b"",
        header() + block(RLE, 5, b"x") + block(RAW, 2, b"yz", is_last=True): b"xxxxxyz",
        # The unused bit of the descriptor is set.
        header(0x30, b"\x03") + block(RAW, 3, b"abc", is_last=True): b"abc",
        # A dictionary identifier of 0 is none; with it the header is as long as headers get.
        header(0xC3, b"\x58" + bytes(4) + (3).to_bytes(8, "little"))
        + block(RAW, 3, b"def", is_last=True): b"def",
        # The header of the second kind of block begins with a zero byte, as the empty ones before it do.
        header()
        + block(RAW, 0, b"") * 5
        + block(RAW, 32, b"4" * 32)
        + block(RAW, 1, b"!", is_last=True): b"4" * 32 + b"!",
    }
    pieces = joined(pieces_of(b"".join(frames), window_bytes=window_bytes))
    assert [(piece.size, piece.text) for piece in pieces] == [(len(f), text) for f, text in frames.items()]
    assert [piece.frame for piece in pieces] == [1, 2, 3, 4, 5]


def test_every_width_of_the_content_size_is_read() -> None:
    for size in (0, 1, 255, 256, 257, 65_535, 65_536, 65_791, 65_792, 300_000):
        text = b"ab" * (size // 2) + b"a" * (size % 2)
        frame = data_frame([text])
        assert [(piece.size, piece.text) for piece in pieces_of(frame)] == [(len(frame), text)]
    eight = header(0xE0, (3).to_bytes(8, "little")) + block(RAW, 3, b"abc", is_last=True)
    assert text_of(pieces_of(eight)) == b"abc"


def test_the_magic_number_inside_a_frame_begins_nothing() -> None:
    hidden = data_frame([b"hidden\n"])
    frame = header() + block(RAW, len(hidden), hidden, is_last=True)

    assert text_of(pieces_of(frame + skippable_frame(hidden) + frame)) == hidden * 2


# ---------------------------------------------------------------- the corpus


@pytest.fixture(scope="module")
def corpus_archives(shared: Path) -> list[Path]:
    found = sorted((shared / "corpus").glob("**/*.zstd"))
    assert found
    return found


def test_boundaries_and_texts_are_those_of_libzstd(corpus_archives: list[Path]) -> None:
    seen = 0
    for path, frames in oracle.intact(corpus_archives):
        with FileBytes(path) as source:
            pieces = list(read_frames(source))
        assert [(piece.size, piece.text) for piece in pieces] == frames, path
        seen += len(frames)
    assert seen > 1000


def test_frames_and_torn_tails_are_those_of_the_ground_truth(shared: Path) -> None:
    seen = 0
    for truth in sorted((shared / "corpus/sessions").glob("*/*/ground_truth.json")):
        for session in json.loads(truth.read_text())["sessions"]:
            if not session["compressed"]:
                continue
            place = f"sessions/{session['workspace_dir']}/{session['session_dir']}/{session['file']}"
            pieces = pieces_of((truth.parent / place).read_bytes())
            assert count(pieces, PieceKind.TEXT) == session["frames"], place
            assert tail_bytes(pieces) == session["torn_tail_bytes"], place
            assert line_count(text_of(pieces)) == session["lines"], place
            seen += 1
    assert seen > 100


def test_the_torture_cases_get_their_verdicts(shared: Path) -> None:
    torture = shared / "corpus/torture"
    for name, case in json.loads((torture / "expected.json").read_text())["cases"].items():
        content = (torture / case["file"]).read_bytes()
        if looks_like_zstd(content[:16]) is False:
            assert case["frames"] == 0, name
            continue
        pieces = pieces_of(content)
        torn = b"".join(piece.text for piece in pieces if piece.kind is PieceKind.TORN)
        found = {
            "frames": count(pieces, PieceKind.TEXT, PieceKind.BAD),
            "skippable": count(pieces, PieceKind.SKIPPABLE),
            "bad_frames": count(pieces, PieceKind.BAD),
            "tail_bytes": tail_bytes(pieces),
            "tail_lines": line_count(torn),
            "lines": line_count(text_of(pieces)),
        }
        if name == "frame-without-newline":
            found["lines"] += 1  # two records in one line; taking them apart is not the reader's business
        assert found == {key: case[key] for key in found}, name
        assert count(pieces, PieceKind.UNFRAMED) == 0, name


@pytest.mark.parametrize("report", ["B015-frame-shapes", "B017-magic-bytes-in-a-checksum"])
def test_the_reported_archives_are_read_whole(shared: Path, report: str) -> None:
    (path,) = (shared / "corpus/reports" / report).glob("**/*.zstd")
    expected = json.loads((shared / "corpus/reports" / report / "expected.json").read_text())["expect"]

    pieces = pieces_of(path.read_bytes())

    assert {piece.kind for piece in pieces} == {PieceKind.TEXT}
    assert len(pieces) == expected["frames"]
    assert line_count(text_of(pieces)) == expected["lines"]


def test_a_torn_tail_is_resumed_where_the_last_whole_frame_ends(shared: Path) -> None:
    steps = sorted((shared / "corpus/reports/B029-torn-tail-then-repair").glob("step*/**/*.zstd"))
    first, second, _ = (path.read_bytes() for path in steps)
    pieces = pieces_of(first)
    *good, torn = pieces
    assert torn.kind is PieceKind.TORN
    assert {piece.kind for piece in good} == {PieceKind.TEXT}

    resumed = pieces_of(second, torn.offset, len(good) + 1)

    assert good + resumed == pieces_of(second)
    assert {piece.kind for piece in resumed} == {PieceKind.TEXT}


# ---------------------------------------------------------------- which files are framed


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        (data_frame([b"x"]), True),
        (MAGIC, True),
        (skippable_frame(b"", 0), True),
        (skippable_frame(b"", 15), True),
        (b'{"type":"session"', False),
        (b"{", False),
        (b"\xef\xbb\xbf{", False),
        (b"\xef\xbb\xbf", False),
        (b" \r\n\t", False),
        (b"\n\n {", False),
        (b"", None),
        (MAGIC[:3], None),
        (b"\x60\x2a\x4d\x18", None),
        (b"\x4f\x2a\x4d\x18", None),
        (bytes(16), None),
        (b"\n\0", None),
        (b"plain words", None),
    ],
)
def test_the_first_bytes_say_whether_a_file_is_framed(head: bytes, verdict: bool | None) -> None:
    assert looks_like_zstd(head) is verdict


# ---------------------------------------------------------------- sources and limits


def test_a_file_is_read_where_asked_and_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789")
    with FileBytes(path) as source:
        assert source.size == 10
        assert source.read_at(7, 2) == b"78"
        assert source.read_at(0, 3) == b"012"
        assert source.read_at(8, 5) == b"89"
        assert source.read_at(10, 5) == source.read_at(99, 5) == b""


def test_a_file_gives_the_pieces_of_its_bytes(tmp_path: Path) -> None:
    content = data_frame([b"a\n"]) + skippable_frame(b"no") + data_frame([b"b\n"])[:-2]
    path = tmp_path / "session.v4.jsonl.zstd"
    path.write_bytes(content)
    with FileBytes(path) as source:
        assert list(read_frames(source)) == pieces_of(content)


def test_what_is_appended_after_opening_is_left_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(data_frame([b"a\n"]))
    with FileBytes(path) as source:
        with path.open("ab") as log:
            log.write(data_frame([b"b\n"]))
        assert text_of(list(read_frames(source))) == b"a\n"


def test_what_is_no_readable_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UnreadableSource, match=str(path)):
            FileBytes(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are a POSIX thing")
def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableSource, match="not a regular file"):
        FileBytes(pipe)


@pytest.mark.parametrize("limits", [{"frame_bytes": 0}, {"window_bytes": 0}, {"window_bytes": -1}])
def test_limits_that_allow_nothing_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        FrameLimits(**limits)
