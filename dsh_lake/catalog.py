"""The rows of ``sources``: what the lake remembers of each file, compared with what lies on disk.

What a file is to the next scan is decided here, from its ``stat`` alone: unchanged, or to be read (on
from where the last scan stopped, if it turns out to be the same file grown). A file whose size, times
and inode are all as they were is unchanged, unless it had changed within the last two seconds before it
was read: then its clock may not have ticked since, and its content is compared by digest.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from dsh_lake.ingest.files import FileFacts, FileTask
from dsh_lake.ingest.source import Outcome, Unread
from dsh_lake.ingest.state import NO_CUT
from dsh_lake.schemas import stored_schema
from dsh_lake.sources import SourceFile, printable, workspace_of

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]

_encode_notes = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Plan:
    """What a scan has to do: files to read, and rows that change without reading."""

    tasks: list[FileTask] = field(default_factory=list)
    files: dict[int, SourceFile] = field(default_factory=dict)
    """The files to be read, by source_key."""
    changed: dict[int, Row] = field(default_factory=dict)
    """Rows that differ from what the lake holds, by source_key."""
    found: list[int] = field(default_factory=list)
    """source_key of every file found on disk under the roots."""
    missing: list[int] = field(default_factory=list)
    """source_key of remembered files that are gone, under these roots."""
    tally: Tally = field(default_factory=lambda: Tally())


@dataclass(slots=True)
class Tally:
    """How the logs that were looked at have changed; cassettes and manifests are in none of these counts."""

    found: int = 0
    new: int = 0
    grown: int = 0
    rewritten: int = 0
    unchanged: int = 0
    missing: int = 0


def source_id(path: str) -> str:
    """The stable name of a file: a digest of its path."""
    return hashlib.sha256(path.encode()).hexdigest()[:16]


def plan(
    files: Iterable[SourceFile],
    known: Mapping[str, Row],
    *,
    batch: int,
    read_all: bool,
) -> Plan:
    """Compare the files on disk with the rows of ``sources``, by path.

    Args:
        files: what discovery found.
        known: the rows of the lake by (printable) path.
        read_all: read every file again from its beginning.
    """
    result = Plan()
    next_key = 1 + max((row["source_key"] for row in known.values()), default=0)
    for file in files:
        path = printable(file.path)
        row = known.get(path)
        if row is None:
            row = _new_row(file, path, next_key)
            next_key += 1
            result.tally.new += _is_log(file.kind)
            is_new = True
        else:
            is_new = False
        key = row["source_key"]
        result.found.append(key)
        result.tally.found += _is_log(file.kind)
        _plan_file(result, file, row, is_new, batch, read_all)
    return result


def _is_log(kind: str) -> bool:
    return kind in ("session", "fixture")


def _plan_file(result: Plan, file: SourceFile, row: Row, is_new: bool, batch: int, read_all: bool) -> None:
    key = row["source_key"]
    is_same = not is_new and _is_same(file, row)
    if file.is_superseded:
        if not (is_same and row["state"] == "superseded"):
            result.changed[key] = {**row, **_NO_FACTS, **_place(file), **_stat(file), **_SUPERSEDED}
        result.tally.unchanged += not is_new  # only logs are ever superseded
        return
    if is_same and not read_all and row["state"] not in ("missing", "superseded"):
        place = _place(file)
        if any(row[name] != value for name, value in place.items()):
            result.changed[key] = {**row, **place}
        result.tally.unchanged += _is_log(file.kind)
        return
    can_resume = not is_new and not read_all and row["state"] != "superseded"
    result.changed[key] = {**row, **_place(file)}
    result.files[key] = file
    result.tasks.append(
        FileTask(
            path=file.path,
            kind=file.kind,
            source_key=key,
            batch=batch,
            size_bytes=file.size_bytes,
            generation=file.generation,
            named_encoding=file.named_encoding,
            resume=row["resume"] if can_resume else None,
            prefix_sha256=row["prefix_sha256"] if can_resume else None,
        )
    )


def _is_same(file: SourceFile, row: Row) -> bool:
    before = (row["size_bytes"], row["mtime_ns"], row["ctime_ns"], row["inode"])
    return before == (file.size_bytes, file.mtime_ns, file.ctime_ns, file.inode) and not row["is_racy"]


_SUPERSEDED = {
    "state": "superseded",
    "code": None,
    "message": "the folder holds a higher generation of the session",
    "missing_since": None,
    "notes": "[]",
    "resume": None,
    "prefix_sha256": None,
    "is_racy": False,
}

_NO_FACTS: Row = dict.fromkeys(
    [
        "encoding",
        "format_version",
        "session_id",
        "decoded_bytes",
        "frames",
        "bad_frames",
        "skippable_frames",
        "good_frame_bytes",
        "bad_frame_bytes",
        "skippable_bytes",
        "unframed_bytes",
        "torn_tail_bytes",
        "lines",
        "recovered_lines",
        "rejected_lines",
        "events",
        "created_at",
        "cwd",
        "parent_session_id",
        "origin",
        "delegation_depth",
        "agent_preset",
        "is_seeded",
        "inherited_events",
        "title",
        "first_event_at",
        "last_event_at",
    ]
)


def _place(file: SourceFile) -> Row:
    """What of a row depends on where the file was found."""
    return {
        "root": printable(file.root),
        "root_rank": file.root_rank,
        "kind": file.kind,
        "generation": _storable(file.generation),
        "workspace": workspace_of(printable(file.path)),
    }


def _storable(generation: int | None) -> int | None:
    """A generation as a column can hold it; a name may state any number."""
    return generation if generation is not None and generation < 2**63 else None


def _stat(file: SourceFile) -> Row:
    return {
        "size_bytes": file.size_bytes,
        "modified_at": file.mtime_ns // 1000,
        "mtime_ns": file.mtime_ns,
        "ctime_ns": file.ctime_ns,
        "inode": file.inode,
    }


def _new_row(file: SourceFile, path: str, key: int) -> Row:
    return {
        **_NO_FACTS,
        **_SUPERSEDED,
        **_place(file),
        **_stat(file),
        "source_id": source_id(path),
        "source_key": key,
        "path": path,
        "message": None,
        "inherited_cut": NO_CUT,
        "has_repeated_calls": False,
        "first_batch": 0,
        "last_batch": 0,
    }


def apply_outcome(result: Plan, outcome: Outcome, batch: int, known_keys: set[int]) -> None:
    """Bring the row of a file that was read up to date, and count how the file had changed."""
    row = result.changed[outcome.source_key]
    tally = result.tally
    is_told = outcome.source_key in known_keys and _is_log(row["kind"])
    if isinstance(outcome, Unread):
        file = result.files[outcome.source_key]
        message = f"the file cannot be read: {outcome.reason}"
        row.update(_SUPERSEDED, **_stat(file))
        row.update(state="failed", code="unreadable", message=message, first_batch=batch, last_batch=batch)
        tally.rewritten += is_told
        return
    before = (row["size_bytes"], row["good_frame_bytes"], row["torn_tail_bytes"])
    _apply_facts(row, outcome, batch)
    after = (row["size_bytes"], row["good_frame_bytes"], row["torn_tail_bytes"])
    if not is_told:
        return
    if not outcome.is_continued:
        tally.rewritten += 1
    elif before == after:
        tally.unchanged += 1
    else:
        tally.grown += 1


def _apply_facts(row: Row, facts: FileFacts, batch: int) -> None:
    state, header = facts.state, facts.header
    is_read = facts.status in ("ok", "partial")
    row.update(
        state=facts.status,
        code=facts.code,
        message=facts.message,
        missing_since=None,
        encoding=state.encoding,
        format_version=header.format_version if header else facts.stated_version,
        session_id=header.session_id if header else None,
        size_bytes=facts.size_bytes,
        modified_at=facts.mtime_ns // 1000,
        torn_tail_bytes=facts.torn_tail_bytes,
        recovered_lines=facts.recovered_lines,
        first_batch=row["first_batch"] if facts.is_continued else batch,
        last_batch=batch,
        notes=_encode_notes(facts.notes).decode(),
        mtime_ns=facts.mtime_ns,
        ctime_ns=facts.ctime_ns,
        inode=facts.inode,
        is_racy=facts.is_racy,
        prefix_sha256=facts.prefix_sha256,
        resume=facts.resume,
        inherited_cut=state.inherited_cut,
        has_repeated_calls=facts.has_repeated_calls,
        inherited_events=state.inherited_events if is_read else None,
        title=state.title,
        first_event_at=state.first_event_us,
        last_event_at=state.last_event_us,
    )
    for name in _COUNTERS:
        row[name] = getattr(state, name)
    row.update(
        created_at=header.created_at_us if header else None,
        cwd=header.cwd if header else None,
        parent_session_id=header.parent_session_id if header else None,
        origin=header.origin if header else None,
        delegation_depth=header.delegation_depth if header else None,
        agent_preset=header.agent_preset if header else None,
        is_seeded=header.is_seeded if header else None,
    )


_COUNTERS = [
    "decoded_bytes",
    "frames",
    "bad_frames",
    "skippable_frames",
    "good_frame_bytes",
    "bad_frame_bytes",
    "skippable_bytes",
    "unframed_bytes",
    "lines",
    "rejected_lines",
    "events",
]


def mark_missing(result: Plan, gone: Iterable[Row]) -> None:
    """Files that are no longer there keep their rows; since when they are missed is noted once."""
    now_us = time.time_ns() // 1000
    for row in gone:
        result.missing.append(row["source_key"])
        result.tally.missing += _is_log(row["kind"])
        if row["state"] != "missing":
            message = "the file is gone; what was read of it is remembered"
            result.changed[row["source_key"]] = {
                **row,
                "state": "missing",
                "code": None,
                "message": message,
                "missing_since": now_us,
            }


def to_table(rows: Iterable[Row]) -> pa.Table:
    """Rows as an Arrow table of the stored schema of ``sources``, ordered by ``source_key``."""
    import pyarrow as pa

    ordered = sorted(rows, key=lambda row: int(row["source_key"]))
    return pa.Table.from_pylist(ordered, schema=stored_schema("sources"))


def from_tables(tables: Iterable[pa.Table]) -> dict[str, Row]:
    """The rows of ``sources`` by path, instants as whole microseconds."""
    rows: dict[str, Row] = {}
    for table in tables:
        columns = [_plain_values(column) for column in table.columns]
        names = table.column_names
        for values in zip(*columns, strict=True):
            row = dict(zip(names, values, strict=True))
            rows[row["path"]] = row
    return rows


def _plain_values(column: pa.ChunkedArray) -> list[Any]:
    # A view, where a cast would do: that loads the compute functions, a tenth of a second on every scan.
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    return [value for chunk in column.chunks for value in chunk.view(pa.int64()).to_pylist()]
