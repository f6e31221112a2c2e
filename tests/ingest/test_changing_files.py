"""A file that changes while it is read: whatever the moment, the next reading puts it right."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dsh_lake.frames import FileBytes, FrameLimits
from dsh_lake.ingest.files import FileFacts, FileTask
from dsh_lake.ingest.session_file import read_session_file
from dsh_lake.ingest.text import TextLimits
from dsh_lake.tables.sink import RowSink
from tests import logs
from tests.corpus import THOROUGH

_PIECE_BYTES = 512 if THOROUGH else 3072
"""So small that a file is read in several pieces."""
LIMITS = TextLimits(batch_bytes=_PIECE_BYTES, frames=FrameLimits(window_bytes=_PIECE_BYTES))

TABLES = ("events", "messages", "tool_results", "rejects")
Row = dict[str, Any]


def _content(author: str, count: int, encoding: str) -> bytes:
    """A session of ``count`` appends; those of two authors are equally long."""
    wrap = logs.frame if encoding == "zstd" else lambda *lines: b"".join(lines)
    appends = [wrap(logs.header("s"))]
    for seq in range(0, 3 * count, 3):
        call, result = logs.call(seq + 1, f"{author}{seq}"), logs.result(seq + 2, f"{author}{seq}")
        appends.append(wrap(logs.user(seq, f"{author}{seq:03d}" * 8), call, result))
    return b"".join(appends)


def _grow(path: Path, encoding: str) -> None:
    grown = _content("a", 16, encoding)
    with path.open("ab") as log:
        log.write(grown[path.stat().st_size :])


def _rewrite(path: Path, encoding: str) -> None:
    path.write_bytes(_content("b", 12, encoding))


def _rewrite_and_grow(path: Path, encoding: str) -> None:
    path.write_bytes(_content("b", 16, encoding))


def _replace(path: Path, encoding: str) -> None:
    other = path.with_name("other")
    other.write_bytes(_content("b", 16, encoding))
    other.replace(path)


def _cut(path: Path, encoding: str) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def _cut_and_grow(path: Path, encoding: str) -> None:
    os.truncate(path, len(_content("a", 5, encoding)))
    with path.open("ab") as log:
        log.write(_content("b", 16, encoding)[path.stat().st_size :])


def _empty(path: Path, encoding: str) -> None:
    os.truncate(path, 0)


CHANGES = (_grow, _rewrite, _rewrite_and_grow, _replace, _cut, _cut_and_grow, _empty)


@contextmanager
def _before_reading(number: int, change: Callable[[], None]) -> Iterator[list[int]]:
    """Let ``change`` happen right before the ``number``-th call that reads; gives the number of calls."""
    count = [0]
    read_at = FileBytes.read_at

    def read(source: FileBytes, offset: int, size: int) -> bytes:
        if count[0] == number:
            change()
        count[0] += 1
        return read_at(source, offset, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileBytes, "read_at", read)
        yield count


def _read(path: Path, before: FileFacts | None = None) -> tuple[FileFacts, dict[str, list[Row]]]:
    resume, digest = (before.resume, before.prefix_sha256) if before else (None, None)
    sink = RowSink()
    task = FileTask(os.fspath(path), "session", 1, 1, resume=resume, prefix_sha256=digest, limits=LIMITS)
    return read_session_file(task, sink), {name: sink.take(name).to_pylist() for name in TABLES}


def _current(old: dict[str, list[Row]], facts: FileFacts, new: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The rows that count after a second reading, by the rule of docs/lake.md."""
    if not facts.is_continued:
        return new
    return {name: [row for row in old[name] if not row["is_tail"]] + new[name] for name in new}


@pytest.mark.parametrize("encoding", ["zstd", "plain"])
@pytest.mark.parametrize("known", [0, 6], ids=["new", "grown"])
@pytest.mark.parametrize("tail", [0, 25], ids=["whole", "torn"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_at_any_moment_of_reading_is_made_good_by_the_next(
    change: Callable[[Path, str], None], tail: int, known: int, encoding: str, tmp_path: Path
) -> None:
    log = logs.log_path(tmp_path, "s", suffix=".zstd" if encoding == "zstd" else "")
    whole, more = _content("a", 12, encoding), _content("a", 13, encoding)
    number, has_changed = 0, True
    while has_changed:
        before, earlier = None, None
        if known:
            log.write_bytes(_content("a", known, encoding))
            before, earlier = _read(log)
        log.write_bytes(whole + more[len(whole) :][:tail])
        with _before_reading(number, lambda: change(log, encoding)) as readings:
            facts, rows = _read(log, before)
        has_changed = readings[0] > number
        if earlier is not None:
            rows = _current(earlier, facts, rows)
        again, new_rows = _read(log, facts)
        truth, true_rows = _read(log)
        assert (number, again.status, again.state, again.header) == (
            number,
            truth.status,
            truth.state,
            truth.header,
        )
        assert _current(rows, again, new_rows) == true_rows
        number += 1 if THOROUGH else 2
    assert number > 3


def test_what_is_appended_while_a_plain_log_is_read_is_left_to_the_next_scan(tmp_path: Path) -> None:
    log = logs.log_path(tmp_path, "s", suffix="")
    log.write_bytes(_content("a", 12, "plain"))
    size = log.stat().st_size
    with _before_reading(4, lambda: _grow(log, "plain")):
        facts, _ = _read(log)
    assert log.stat().st_size > size
    assert (facts.size_bytes, facts.state.offset, facts.state.good_frame_bytes) == (size, size, size)
    assert _read(log, facts)[0].is_continued
