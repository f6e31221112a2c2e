"""What must hold for any bytes whatever: one function ``bytes -> None`` for each thing that reads them.

A target states laws and raises AssertionError, or whatever slipped through, where one is broken. The laws of
all: nothing but errors of this package comes out, no input takes long for its size, reading twice gives the
same, and nothing is passed over without being accounted for. Each target is plain Python, for Hypothesis,
for a coverage-guided fuzzer and for a single file that was found once.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
import zstandard

import dsh_lake
from dsh_lake.canonical import canonical_sha256_of_json, canonical_text, parse_json
from dsh_lake.cassette import find_faults, load, outputs
from dsh_lake.errors import (
    CanonicalError,
    CassetteFormatError,
    CassetteTypeError,
    DshLakeError,
    DuplicateMember,
    FixtureError,
    MalformedJson,
)
from dsh_lake.fixtures.log_files import fixtures_normalize
from dsh_lake.fixtures.logs import read_log
from dsh_lake.fixtures.manifest import parse_manifest
from dsh_lake.frames import FrameLimits, MemoryBytes, PieceKind, read_frames
from dsh_lake.ingest.files import FileFacts, FileTask
from dsh_lake.ingest.session_file import read_session_file
from dsh_lake.ingest.source import Unread, read_source
from dsh_lake.ingest.text import TextLimits
from dsh_lake.records.cassette import check_record, read_cassette
from dsh_lake.records.cassette_checks import Faults
from dsh_lake.records.cassette_text import exact_encode
from dsh_lake.schemas import TABLES
from dsh_lake.sources import actual_path, discover, printable
from dsh_lake.tables.sink import RowSink
from dsh_lake.terminal_text import terminal_text

Target = Callable[[bytes], None]

BASE_SECONDS = 5.0
SECONDS_PER_MB = 60.0
"""What one input may take in processor time, watched by a fuzzer that slows everything down many times."""

TARGETS: dict[str, Target] = {}
"""Every target by its name."""


def target(function: Target) -> Target:
    """Enter a function into :data:`TARGETS`, watched for the time it takes."""

    @wraps(function)
    def timed(data: bytes) -> None:
        begin = time.process_time()
        function(data)
        spent = time.process_time() - begin
        assert spent < BASE_SECONDS + SECONDS_PER_MB * len(data) / 1e6, f"{spent:.1f} s for {len(data)} bytes"

    TARGETS[function.__name__.replace("_", "-")] = timed
    return timed


@cache
def _folder() -> Path:
    """A folder in memory where there is one: most targets write a file for each input."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="dsh-lake-fuzz-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file(name: str, content: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(content)
    return path


def _cut_of(data: bytes) -> int:
    """A place in the data, always the same for the same data."""
    return crc32(data) % (len(data) + 1)


# -- frames ------------------------------------------------------------------------------------------------

_FRAME_BYTES = 1 << 20


@target
def frames(data: bytes) -> None:
    """Pieces account for every byte, whatever is held at once, and reading goes on after any of them."""
    pieces = _joined_pieces(data)
    assert sum(size for _, _, size, *_ in pieces) == len(data)
    assert _joined_pieces(data, window_bytes=1) == pieces
    ends = [(at, offset + size) for at, (_, offset, size, *_) in enumerate(pieces)]
    for at, end in ends[:2] + ends[-2:]:
        ordinal = 1 + max((frame for *_, frame, _, _ in pieces[: at + 1]), default=0)
        assert _joined_pieces(data, offset=end, frame=ordinal) == pieces[at + 1 :]


def _joined_pieces(
    data: bytes, *, offset: int = 0, frame: int = 1, window_bytes: int = 8 << 20
) -> list[tuple[PieceKind, int, int, int, bytes, str]]:
    limits = FrameLimits(frame_bytes=_FRAME_BYTES, window_bytes=window_bytes)
    pieces, text, at = [], b"", offset
    for piece in read_frames(MemoryBytes(data), offset=offset, frame=frame, limits=limits):
        assert piece.offset == at
        assert bool(piece.code) == bool(piece.reason)
        text += piece.text
        at += piece.size
        assert len(text) <= _FRAME_BYTES
        if piece.size:
            pieces.append((piece.kind, piece.offset, piece.size, piece.frame, text, piece.code))
            text = b""
    assert not text
    return pieces


# -- session logs ------------------------------------------------------------------------------------------

Batches = dict[str, pa.RecordBatch]
_PLACES = ("frame", "byte_offset")
"""Columns that say where a row was found."""


@target
def archives(data: bytes) -> None:
    """The bytes of a log file as they are: every byte is in one account, every line read or rejected."""
    facts, rows = _read_log(data)
    _check_accounts(facts, rows, len(data))
    assert _read_log(data)[1] == rows
    _check_rows_without_content(data, rows)


@target
def lines(data: bytes) -> None:
    """The text of a log: neither its wrapping, nor how much is held, nor when it was written matters."""
    text = data[: data.rfind(b"\n") + 1]
    facts, rows = _read_log(text)
    _check_accounts(facts, rows, len(text))
    assert _read_log(text, limits=TextLimits(batch_bytes=1)) == (facts, rows)
    _check_rows_without_content(text, rows)
    if not text.startswith((b"\x28\xb5\x2f\xfd", *_SKIPPABLE_MAGICS)):
        _check_framed(text, facts, rows)
        _check_grown(text, facts, rows)


_SKIPPABLE_MAGICS = [bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60)]


def _check_framed(text: bytes, facts: FileFacts, rows: Batches) -> None:
    """The same text in two frames gives the same rows, but for their places."""
    cut = text.rfind(b"\n", 0, _cut_of(text)) + 1
    compress = zstandard.ZstdCompressor(level=1, write_checksum=True).compress
    framed_facts, framed = _read_log(b"".join(compress(part) for part in (text[:cut], text[cut:]) if part))
    assert _without_places(framed) == _without_places(rows)
    assert (framed_facts.state.lines, framed_facts.status) == (facts.state.lines, facts.status)


def _without_places(rows: Batches) -> Batches:
    return {
        name: batch.drop_columns([place for place in _PLACES if place in batch.schema.names])
        for name, batch in rows.items()
    }


def _check_grown(text: bytes, facts: FileFacts, rows: Batches) -> None:
    """A file that is read when part of it is there, and again when it has grown, is as if read once."""
    first, first_rows = _read_log(text[: _cut_of(text)])
    if first.resume is None:
        return
    second, second_rows = _read_log(text, resume=first.resume, prefix_sha256=first.prefix_sha256)
    assert second.is_continued
    assert second.state == facts.state
    for name, batch in rows.items():
        kept = first_rows[name].filter(pc.invert(first_rows[name]["is_tail"]))
        assert pa.Table.from_batches([kept, second_rows[name]]).combine_chunks() == pa.table(batch)


def _read_log(
    data: bytes,
    *,
    with_content: bool = True,
    limits: TextLimits | None = None,
    resume: str | None = None,
    prefix_sha256: str | None = None,
) -> tuple[FileFacts, Batches]:
    path = _folder() / "session.v4.jsonl"
    if resume is None:
        path.unlink(missing_ok=True)
    path.write_bytes(data)
    sink = RowSink(with_content=with_content)
    limits = limits or TextLimits(frames=FrameLimits(frame_bytes=_FRAME_BYTES))
    task = FileTask(str(path), "session", 1, 1, resume=resume, prefix_sha256=prefix_sha256, limits=limits)
    facts = read_session_file(task, sink)
    rows = {name: sink.take(name) for name in sink.rows}
    for batch in rows.values():
        batch.validate(full=True)
    return _timeless(facts), rows


def _timeless(facts: FileFacts) -> FileFacts:
    """The facts without what the file system adds to them."""
    return replace(facts, mtime_ns=0, ctime_ns=0, inode=0)


def _check_accounts(facts: FileFacts, rows: Batches, size: int) -> None:
    state = facts.state
    accounts = (state.good_frame_bytes, state.bad_frame_bytes, state.skippable_bytes, state.unframed_bytes)
    assert sum(accounts) + facts.torn_tail_bytes == size
    if facts.status not in ("ok", "partial") or facts.torn_tail_bytes:
        return
    read = {line for name in ("events", "rejects") for line in rows[name]["line"].to_pylist()} - {None}
    glued = sum(note.count for note in facts.notes if note.code == "missing-newline")
    assert len(read) + 1 + 7 * glued >= state.lines


def _check_rows_without_content(data: bytes, rows: Batches) -> None:
    """Lines are read another way where their texts are not kept: all else is the same."""
    _, bare = _read_log(data, with_content=False)
    assert _without_texts(bare) == _without_texts(rows)


def _without_texts(rows: Batches) -> Batches:
    texts = {name: {column.name for column in TABLES[name].stored if column.is_content} for name in rows}
    return {
        name: batch.drop_columns([column for column in batch.schema.names if column in texts[name]])
        for name, batch in rows.items()
    }


@target
def sessions(data: bytes) -> None:
    """A log through its views, and each of its first lines shown: as slow as it is whole."""
    path = _file("whole.v4.jsonl", data)
    tables = dsh_lake.read_session(path)
    for name, table in tables.items():
        table.validate(full=True)
        assert len(tables["sources"]) == 1, name
    for line in (1, 2, 3, 10):
        try:
            shown = dsh_lake.show(f"{path}#L{line}")
        except DshLakeError:
            continue
        json.dumps(shown, allow_nan=False)


# -- JSON --------------------------------------------------------------------------------------------------


@target
def canonical(data: bytes) -> None:
    """What is JSON for Python's reader is JSON here, at any depth, and its canonical text is stable."""
    text = data.decode("utf-8", "replace")
    try:
        value = parse_json(text)
    except MalformedJson:
        assert not _is_json(text)
        assert canonical_sha256_of_json(data) is None
        return
    deep = parse_json("[" * 300 + text + "]" * 300)
    for _ in range(300):
        (deep,) = deep  # type: ignore[misc,union-attr]
    assert repr(deep) == repr(value)
    try:
        spelled = canonical_text(value)
    except CanonicalError:
        assert canonical_sha256_of_json(data) is None
        return
    spelled.encode()
    assert canonical_text(parse_json(spelled, unique_members=True)) == spelled
    assert canonical_sha256_of_json(spelled) == canonical_sha256_of_json(data)
    with suppress(DuplicateMember):
        assert repr(parse_json(text, unique_members=True)) == repr(value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=float, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(name: str) -> Any:
    raise ValueError(name)


# -- cassettes ---------------------------------------------------------------------------------------------

_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@target
def cassettes(data: bytes) -> None:
    """A cassette is judged the same by every reader of it, and what is printed of it is safe to print."""
    end = 0
    for line in read_cassette(io.BytesIO(data)):
        assert line.offset >= end
        end = line.offset + len(line.octets)
        assert data[line.offset : end] == line.octets
        assert (line.facts, line.faults) == _read_exactly(line.octets, line.line)
    path = _file("one.cassette.jsonl", data)
    faults = find_faults(path)
    try:
        load(path)
    except (CassetteFormatError, CassetteTypeError) as error:
        assert faults
        assert str(error) == faults[0].message
    else:
        assert not faults
    for as_json in (False, True):
        for output in (
            outputs.verify(str(path), as_json=as_json),
            outputs.inspect(str(path), as_json=as_json, show_calls=True),
            outputs.diff(str(path), str(path), as_json=as_json, show_calls=True),
        ):
            assert output.exit in (0, 1, 2)
            printed = "".join(output.stdout)
            assert not _CONTROLS.search(printed + output.stderr)
    _check_cassette_rows(path)


def _read_exactly(octets: bytes, number: int) -> tuple[Any, list[Any]]:
    """A line read without any shortcut."""
    faults = Faults(number)
    try:
        record = parse_json(octets.decode("utf-8", "replace"), unique_members=True)
    except MalformedJson:
        faults.add(0, "malformed-json", f"line {number} is not valid JSON")
        return None, faults.found
    except DuplicateMember:
        _, (fault,) = _duplicate(octets, number)
        return None, [fault]
    return check_record(record, faults, exact_encode), faults.found


def _duplicate(octets: bytes, number: int) -> tuple[None, list[Any]]:
    from dsh_lake.records.cassette import DUPLICATE_RANK
    from dsh_lake.records.cassette_facts import Fault

    message = f"line {number} contains a duplicate JSON object member"
    return None, [Fault(number, DUPLICATE_RANK, "duplicate-member", message)]


def _check_cassette_rows(path: Path) -> None:
    for with_content in (True, False):
        sink = RowSink(with_content=with_content)
        outcome = read_source(FileTask(str(path), "cassette", 1, 1), sink)
        assert not isinstance(outcome, Unread)
        for name in sink.rows:
            sink.take(name).validate(full=True)


# -- fixtures ----------------------------------------------------------------------------------------------


@target
def manifests(data: bytes) -> None:
    """A manifest is refused in one sentence or read; what was read is the same when written as JSON."""
    text = data.decode("utf-8", "replace")
    try:
        manifest = parse_manifest(text)
    except FixtureError as error:
        assert str(error).startswith("session-snapshot: snapshot.yml: ")
    else:
        document = manifest.document()
        assert parse_manifest(json.dumps(document, ensure_ascii=False)).document() == document
    sink = RowSink()
    outcome = read_source(FileTask(str(_file("snapshot.yml", data)), "manifest", 1, 1), sink)
    assert not isinstance(outcome, Unread)
    assert len(sink.take("scenarios")) == 1


@target
def fixture_logs(data: bytes) -> None:
    """The log of a fixture is refused or normalised; what is normal stays as it is."""
    read_log(data.decode("utf-8", "replace"))
    path = _file("session.v4.jsonl", data)
    try:
        (normal,) = fixtures_normalize([path])["logs"]
    except DshLakeError:
        return
    normal.encode()


# -- names -------------------------------------------------------------------------------------------------

_LOG = b'{"type":"session","version":4,"id":"s","createdAt":1,"isSeeded":false,"delegationDepth":0}\n'
_SECRET = b'{"type":"session","version":4,"id":"outside"}\n'


@target
def names(data: bytes) -> None:
    """A tree with files, folders and links of any names: what is read of it lies in it, once.

    Entries are separated by NUL: a path, or a path and what it links to, with ``->`` between them.
    """
    outside = _folder() / "tree"
    shutil.rmtree(outside, ignore_errors=True)
    root = outside / "root"
    root.mkdir(parents=True)
    (outside / "session.v4.jsonl").write_bytes(_SECRET)
    for entry in data.split(b"\0")[:12]:
        _make_entry(os.fsencode(root), entry)
    found = discover([root])
    assert discover([root]) == found
    real = [os.path.realpath(source.path) for source in (*found.files, *found.manifests)]
    assert len(set(real)) == len(real)
    assert all(path.startswith(f"{root}{os.sep}") for path in real)
    for source in found.files:
        assert actual_path(printable(source.path)) == source.path
    for finding in found.findings:
        assert finding.path.isprintable() and finding.message.isprintable()
        assert terminal_text(finding.path) == finding.path


def _make_entry(root: bytes, entry: bytes) -> None:
    """Make one entry below the root; what the file system refuses is not made."""
    path, is_link, goal = entry.partition(b"->")
    parts = [part[:250] for part in path.split(b"/") if part not in (b"", b".", b"..")][:6]
    if not parts:
        return
    place = os.path.join(root, *parts)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if is_link:
            os.symlink(goal, place)
        else:
            with open(place, "xb") as file:
                file.write(_LOG)
    except OSError:
        return
