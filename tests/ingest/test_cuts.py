"""An archive cut anywhere: nothing raises, no complete line is lost, every byte has its account."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest

from dsh_lake.frames import FileBytes
from dsh_lake.ingest.files import FileFacts, FileTask
from dsh_lake.ingest.session_file import read_session_file
from dsh_lake.ingest.text import Lines, TextLimits, encoding_of, read_text
from dsh_lake.tables.sink import RowSink
from tests import logs
from tests.corpus import CORPUS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ARCHIVES = sorted((CORPUS / "sessions").glob("*/*/sessions/*/*/session*.jsonl*"))
# The same archives in every run, of every runtime and group.
SAMPLE = random.Random(1).sample(ARCHIVES, min(len(ARCHIVES), 24))


def _frame_ends(content: bytes) -> list[int]:
    """Where frames end, found by other code than ours."""
    sizes, at = [], 0
    while at < len(content):
        sizes.append(zstd.get_frame_size(content[at:]))
        at += sizes[-1]
    return list(accumulate(sizes))


def _read(path: Path) -> tuple[FileFacts, RowSink]:
    sink = RowSink()
    return read_session_file(FileTask(str(path), "session", 1, 1), sink), sink


def _check_cut(content: bytes, ends: list[int], cut: int, path: Path) -> None:
    path.write_bytes(content[:cut])
    facts, sink = _read(path)
    state = facts.state
    whole = max((end for end in ends if end <= cut), default=0)
    text = zstd.decompress(content[:whole]) if whole else b""
    lines = [each for each in text.split(b"\n")[:-1] if each.strip()]
    assert state.lines == len(lines)
    assert state.frames == sum(end <= cut for end in ends)
    accounts = (state.good_frame_bytes, state.bad_frame_bytes, state.skippable_bytes, state.unframed_bytes)
    assert sum(accounts) + facts.torn_tail_bytes == cut
    assert facts.torn_tail_bytes == cut - whole
    if lines:
        # One row of events for each line after the header; those of the torn frame come on top.
        assert len(sink.rows["events"]) - facts.recovered_lines == len(lines) - 1
        assert not [reject for reject in sink.rows["rejects"] if reject[3] != "torn-tail"]


@pytest.mark.parametrize("archive", SAMPLE, ids=lambda path: f"{path.parts[-6]}-{path.parent.name[:12]}")
def test_a_real_archive_cut_anywhere(archive: Path, tmp_path: Path) -> None:
    content = archive.read_bytes()
    path = tmp_path / "session.v4.jsonl.zstd"
    if not archive.name.endswith(".zstd"):
        _check_plain_cuts(content, tmp_path / "session.v4.jsonl")
        return
    ends = _frame_ends(content) if _is_whole(content) else []
    if not ends:
        pytest.skip("the archive is torn itself; the torture and homes tests read it")
    tail_start = ends[-3] if len(ends) > 2 else 0
    tail = range(tail_start, len(content))
    random_cuts = random.Random(len(content)).sample(range(len(content)), min(40, len(content)))
    for cut in [*random.Random(2).sample(tail, min(160, len(tail))), *random_cuts]:
        _check_cut(content, ends, cut, path)


def _is_whole(content: bytes) -> bool:
    try:
        return sum([0, *_sizes(content)]) == len(content)
    except zstd.ZstdError:
        return False


def _sizes(content: bytes) -> list[int]:
    ends = _frame_ends(content)
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _check_plain_cuts(content: bytes, path: Path) -> None:
    for cut in random.Random(3).sample(range(len(content)), min(60, len(content))):
        path.write_bytes(content[:cut])
        facts, _ = _read(path)
        whole = content[:cut].rfind(b"\n") + 1
        assert facts.state.lines == content[:whole].count(b"\n")
        assert facts.state.good_frame_bytes == whole
        assert facts.torn_tail_bytes == cut - whole


def test_a_made_log_cut_at_every_byte(tmp_path: Path) -> None:
    frames = [
        logs.frame(logs.header("s")),
        logs.frame(logs.user(0, "one"), logs.call(1, "c")),
        logs.frame(logs.result(2, "c"), logs.assistant(3, 1, 1, 5)),
        logs.frame(logs.user(4, "x" * 3000)),
    ]
    content, ends = b"".join(frames), list(accumulate(map(len, frames)))
    for cut in range(len(content) + 1):
        _check_cut(content, ends, cut, tmp_path / "session.v4.jsonl.zstd")


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs the zstd command as the oracle")
def test_the_text_of_every_archive_is_what_zstd_decodes(shared: Path) -> None:
    compared = 0
    for archive in sorted((shared / "corpus").rglob("*.jsonl.zstd")):
        decoded = subprocess.run(["zstd", "-dcq", archive], capture_output=True, check=False)
        if decoded.returncode == 0 and decoded.stdout.endswith(b"\n"):
            assert _joined(archive, 4 << 20) == decoded.stdout, archive
            compared += 1
    assert compared > 300


@pytest.mark.parametrize("batch_bytes", [1, 100])
def test_how_much_is_held_at_once_changes_nothing(batch_bytes: int, shared: Path) -> None:
    for archive in SAMPLE:
        assert _joined(archive, batch_bytes) == _joined(archive, 4 << 20)


def _joined(archive: Path, batch_bytes: int) -> bytes:
    with FileBytes(archive) as source:
        steps = read_text(source, encoding_of(source, None), limits=TextLimits(batch_bytes=batch_bytes))
        return b"".join(text + b"\n" for step in steps if isinstance(step, Lines) for text in step.texts)
