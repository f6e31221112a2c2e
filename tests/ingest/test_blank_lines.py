"""Blank lines are counted and cost next to nothing; what stands between them is found where it is."""

from __future__ import annotations

from pathlib import Path

from dsh_lake.ingest.files import FileFacts, FileTask
from dsh_lake.ingest.session_file import read_session_file
from dsh_lake.ingest.text import Lines, Mark
from dsh_lake.tables.sink import RowSink
from tests import logs


def _read(content: bytes, path: Path) -> tuple[FileFacts, RowSink]:
    path.write_bytes(content)
    sink = RowSink()
    return read_session_file(FileTask(str(path), "session", 1, 1), sink), sink


def test_lines_between_blank_ones_have_their_own_numbers_and_places(tmp_path: Path) -> None:
    texts = [b"", logs.header("s")[:-1], b"", b" \t", logs.user(0, "one")[:-1], b"", b"", b"{}", b"", b"[]"]
    content = b"".join(text + b"\n" for text in texts) + b"\n" * 1000 + logs.user(1, "two") + b"\n\n"
    facts, sink = _read(content, tmp_path / "session.v4.jsonl")
    assert [row[0] for row in sink.rows["events"]] == [5, 1011]
    places = [(row[0], row[2]) for row in sink.rows["rejects"]]
    assert places == [(8, content.index(b"{}\n")), (10, content.index(b"[]\n"))]
    assert (facts.state.line, facts.state.lines) == (1013, 5)


def test_frames_of_lines_between_blank_ones(tmp_path: Path) -> None:
    frames = [
        logs.frame(b"\n\n", logs.header("s"), b"\n"),
        logs.frame(b"\n" * 500),
        logs.frame(b"\n", logs.user(0, "one"), b"\n"),
    ]
    facts, sink = _read(b"".join(frames), tmp_path / "session.v4.jsonl.zstd")
    assert [row[:3] for row in sink.rows["events"]] == [(506, 0, 3)]
    assert (facts.state.line, facts.state.lines, facts.state.frames) == (507, 2, 3)


def test_what_stands_in_place_of_the_header_is_found_behind_blank_lines(tmp_path: Path) -> None:
    content = b"\n" * 40 + b" \n[]\n{}\n"
    facts, sink = _read(content, tmp_path / "session.v4.jsonl")
    assert [row[:3] for row in sink.rows["rejects"]] == [(42, None, content.index(b"[]"))]
    assert (facts.state.line, facts.state.lines, facts.state.rejected_lines) == (43, 2, 1)


def test_what_stands_in_place_of_the_header_is_found_in_its_own_frame(tmp_path: Path) -> None:
    blank = logs.frame(b"\n\n")
    facts, sink = _read(blank + logs.frame(b"[]\n"), tmp_path / "session.v4.jsonl.zstd")
    assert [row[:3] for row in sink.rows["rejects"]] == [(3, 2, len(blank))]
    assert facts.state.line == 3


class _Unwalked(list[Mark]):
    """Marks that can be looked up and not walked through."""

    def __iter__(self) -> None:  # type: ignore[override]
        raise AssertionError("all frames of a batch were looked at for one line")


def test_the_frames_of_a_line_are_found_without_a_look_at_all_of_them() -> None:
    marks = _Unwalked([Mark(3 * number, number + 1, 100 * number) for number in range(10_000)])
    lines = Lines([b""], marks, False)
    assert lines.cuts(6, 3) == []
    assert lines.cuts(6, 4) == [3]
    assert lines.cuts(5, 8) == [1, 4, 7]
    assert lines.mark_at(8) == Mark(6, 3, 200)
