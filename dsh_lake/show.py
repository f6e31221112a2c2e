"""One record in full: where it lies, when it was made, and what it says.

A line is read with the very code that a scan reads it with, so numbers agree with those in the lake. The
file is read up to the line and no further; of it one batch of lines is held at a time.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from dsh_lake.errors import LakeError, SourceError, UsageError
from dsh_lake.frames import FileBytes
from dsh_lake.ingest.session import HeaderRejected, SessionLines
from dsh_lake.ingest.state import FileState
from dsh_lake.ingest.text import BOM, Fault, Lines, Recovered, Tail, TextLimits, encoding_of, read_text
from dsh_lake.readonly import read_rows
from dsh_lake.records.strict_json import NotJson, TooDeep, parse
from dsh_lake.schemas import EVENTS
from dsh_lake.sources import actual_path, log_name, printable
from dsh_lake.spelling import instant_text, json_columns
from dsh_lake.tables.place import Row
from dsh_lake.tables.sink import RowSink

_REFERENCE = re.compile(r"(?P<target>.+)#(?:L(?P<line>[1-9][0-9]*)|seq=(?P<seq>[0-9]+))", re.DOTALL)
_EXCERPT_BYTES = 48

_SESSIONS = """
select sessions.session_id, sources.path, source_id
from sessions inner join sources using (source_id)
where starts_with(sessions.session_id, $name) or starts_with(sessions.session_id, 'session-' || $name)
order by sessions.session_id, sources.path
"""
_EVENTS = """
select line, seq, frame, "at" as time, type, is_recovered, data from events
where source_id = $source and (line = $line or seq = $seq)
order by line, seq
"""
_REJECTS = "select line, code, message from rejects where source_id = $source and line = $line"


class Place(NamedTuple):
    """Which record is meant: by line of the decoded text (the header is line 1), or by seq."""

    line: int | None
    seq: int | None

    def __str__(self) -> str:
        return f"line {self.line}" if self.line is not None else f"seq {self.seq}"


def show(ref: str, lake: str | os.PathLike[str] | None = None, *, as_of: str | None = None) -> dict[str, Any]:
    """One record of a session log.

    Args:
        ref: ``FILE#L20``, ``FILE#seq=17``, ``SESSION#L20`` or ``SESSION#seq=17``. A file is read as it is
            now, whether it is in a lake or not. A session, by its id or the beginning of it, is looked up
            in the lake; if its file is gone, what the lake keeps of it is shown.
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan, for sessions.

    Returns:
        ``path``, ``line``, ``frame`` (null in a plain file), ``byte_offset`` (of the frame, in a plain file
        of the line), ``seq``, ``time`` (ISO 8601, UTC), ``type``, ``record`` (the parsed line, null when it
        cannot be read), ``is_recovered`` (from a torn end of the file) and ``notes``, a list of remarks. A
        rejected line has ``rejected`` (``code``, ``message``), ``hex`` (its bytes around the fault) and
        ``hex_offset`` (where in the line they begin) besides. A packed row has ``members``, how many events
        it stands for, and where one is meant ``member``: its ``seq``, ``time``, ``type`` and ``data``.
        A line that is several records, joined where a frame ended, has a list of them as ``record``.

    Raises:
        UsageError: the reference is of no known form, or the session is not the only one of that beginning.
        SourceError: the file cannot be read, or has no such line.
        LakeError: there is no lake, or no such session or event in it.
    """
    match = _REFERENCE.fullmatch(ref)
    if match is None:
        raise UsageError(f"{ref!r} names no record: write FILE#L20, SESSION#L20 or SESSION#seq=17")
    target = match["target"]
    line, seq = match["line"], match["seq"]
    place = Place(int(line) if line else None, int(seq) if seq else None)
    for path in (target, actual_path(target)):
        if os.path.lexists(path):
            return _show_file(path, place)
    if os.sep in target or target.endswith((".jsonl", ".jsonl.zstd", ".zst")):
        raise SourceError(target, "no such file")
    return _show_session(target, place, lake, as_of)


# -- in a file ---------------------------------------------------------------------------------------------


def _show_file(path: str, place: Place) -> dict[str, Any]:
    with FileBytes(Path(path)) as source:
        named = log_name(os.path.basename(path))
        encoding = encoding_of(source, named[1] if named else None)
        search = _Search(place, FileState(encoding=encoding))
        for step in read_text(source, encoding, limits=TextLimits()):
            if isinstance(step, Lines | Recovered):
                found = search.look(step)
                if found is not None:
                    return {"path": printable(path), **found}
            elif isinstance(step, Fault | Tail):
                search.pass_over(step)
    raise SourceError(path, search.failure())


class _Event(NamedTuple):
    """What of a stored event row is shown."""

    line: int
    seq: int
    type: str
    at: int | None
    members: int
    packed_prefix: bytes | None
    packed_texts: Sequence[bytes] | None
    packed_offsets_ms: Sequence[int] | None

    @classmethod
    def of(cls, row: Row) -> _Event:
        """The event of a row as the reader of lines makes it."""
        return cls(*(row[place] for place in _EVENT_PLACES))

    def has(self, seq: int) -> bool:
        """Whether the row is, or stands for, the event of that number."""
        return self.seq <= seq < self.seq + self.members


_STORED = EVENTS.stored_names
_EVENT_PLACES = [_STORED.index(name) - _STORED.index("line") for name in _Event._fields]
"""A reader's rows begin with the line; the columns before it are the same for whole runs of rows."""


@dataclass(slots=True)
class _Line:
    """A line that was found: its text, where it lies, and the rows that it became."""

    number: int
    text: bytes
    frame: int | None
    offset: int
    cuts: list[int]
    events: list[_Event]
    rejects: list[Row]
    is_recovered: bool


class _Search:
    """Reads batches of lines until one has the record that is meant."""

    def __init__(self, place: Place, state: FileState) -> None:
        self._place = place
        self._sink = RowSink()
        self._lines = SessionLines(state, self._sink)
        self._recovery: SessionLines | None = None
        self._header_fault: HeaderRejected | None = None
        self._faults: list[str] = []

    def look(self, step: Lines | Recovered) -> dict[str, Any] | None:
        """The record, if it is in this batch."""
        is_recovered = isinstance(step, Recovered)
        batch = step.lines if isinstance(step, Recovered) else step
        if is_recovered and self._recovery is None:
            self._recovery = SessionLines(self._lines.state.copy(), self._sink, is_recovered=True)
        reader = self._recovery if self._recovery is not None else self._lines
        first = reader.state.line + 1
        self._read(reader, batch, first)
        number = self._number_in(first, len(batch.texts))
        found = None if number is None else self._line(batch, first, number, is_recovered)
        for rows in self._sink.rows.values():
            rows.clear()
        return None if found is None else self._described(found)

    def pass_over(self, step: Fault | Tail) -> None:
        """Take note of what could not be read, for the case that nothing is found."""
        if isinstance(step, Fault) or step.size:
            self._faults.append(f"{step.message} (byte {step.offset})")

    def failure(self) -> str:
        """Why nothing was found."""
        reader = self._recovery or self._lines
        has = f"it has {reader.state.line} lines" if self._place.line else "no event has this number"
        return f"there is no {self._place}: {'; '.join([has, *self._faults])}"

    def _read(self, reader: SessionLines, batch: Lines, first: int) -> None:
        if self._header_fault is None:
            try:
                reader.add(batch)
                return
            except HeaderRejected as fault:
                self._header_fault = fault
        # Without a header no line is an event; they are still lines.
        reader.state.line = first - 1 + len(batch.texts)

    def _number_in(self, first: int, count: int) -> int | None:
        line, seq = self._place
        if line is not None:
            return line if first <= line < first + count else None
        if seq is None:
            return None
        events = map(_Event.of, self._sink.rows["events"])
        return next((event.line for event in events if event.has(seq)), None)

    def _line(self, batch: Lines, first: int, number: int, is_recovered: bool) -> _Line:
        index = number - first
        position = sum(len(text) + 1 for text in batch.texts[:index])
        text, mark = batch.texts[index], batch.mark_at(position)
        rows = self._sink.rows
        return _Line(
            number=number,
            text=text,
            frame=mark.frame or None,
            offset=mark.offset + (position if self._lines.state.encoding == "plain" else 0),
            cuts=batch.cuts(position, len(text)),
            events=[event for event in map(_Event.of, rows["events"]) if event.line == number],
            rejects=[row for row in rows["rejects"] if row[0] == number],
            is_recovered=is_recovered,
        )

    def _described(self, line: _Line) -> dict[str, Any]:
        described: dict[str, Any] = {
            "line": line.number,
            "frame": line.frame,
            "byte_offset": line.offset,
            "seq": None,
            "time": None,
            "type": None,
            "is_recovered": line.is_recovered,
            "record": None,
            "notes": list(self._notes(line)),
        }
        if line.rejects:
            _, _, _, code, message = line.rejects[0]
            rejected = {"code": code, "message": message}
            return {**described, "rejected": rejected, **_excerpt(line.text)}
        if line.text.strip():
            described |= self._record(line)
        return described

    def _notes(self, line: _Line) -> Iterator[str]:
        if line.is_recovered:
            yield "from the torn end of the file: DSH may write this line again"
        if not line.text.strip():
            yield "the line is blank"
        if self._header_fault is not None:
            yield f"nothing of this file is in a lake: {self._header_fault.message}"

    def _record(self, line: _Line) -> dict[str, Any]:
        """What the text says, and the event or events that it became."""
        seq = self._place.seq
        parts = [line.text]
        if len(line.events) > 1:
            parts = [line.text[begin:end] for begin, end in pairwise((0, *line.cuts, len(line.text)))]
        if not line.events:
            value = _value(line.text)
            return {"record": value, "type": _type_of(value)}
        chosen = [
            (event, _value(part))
            for event, part in zip(line.events, parts, strict=True)
            if seq is None or event.has(seq)
        ]
        event, value = chosen[0]
        return {
            "record": value if len(chosen) == 1 else [part for _, part in chosen],
            "type": _type_of(value),
            "seq": event.seq,
            "time": instant_text(event.at),
            **_packed(event, seq),
        }


def _packed(event: _Event, seq: int | None) -> dict[str, Any]:
    """How many events a packed row stands for, and the one that is meant; nothing of any other row."""
    prefix, texts, offsets_ms = event.packed_prefix, event.packed_texts, event.packed_offsets_ms
    if prefix is None or texts is None or offsets_ms is None:
        return {}
    if seq is None:
        return {"members": event.members}
    number = seq - event.seq
    member = {
        "seq": seq,
        "time": instant_text(None if event.at is None else event.at + 1000 * offsets_ms[number]),
        "type": event.type,
        "data": _value(bytes(prefix) + bytes(texts[number]) + b"}}"),
    }
    return {"members": event.members, "member": member}


def _value(text: bytes) -> Any:
    """The JSON value of a line, or its text where it is none."""
    decoded = text.removeprefix(BOM).decode("utf-8", "backslashreplace")
    try:
        return _finite(parse(decoded))
    except (NotJson, TooDeep):
        return decoded


def _finite(value: Any) -> Any:
    """A number beyond the range of floating point as text, since JSON could not say it otherwise."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list):
        return [_finite(member) for member in value]
    return {name: _finite(member) for name, member in value.items()} if isinstance(value, dict) else value


def _type_of(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else None


def _excerpt(text: bytes) -> dict[str, Any]:
    """The bytes around the place where a line stops being JSON, as hexadecimal numbers."""
    at = 0
    try:
        decoded = text.decode()
        with suppress(RecursionError):
            json.loads(decoded)
    except UnicodeDecodeError as error:
        at = error.start
    except json.JSONDecodeError as error:
        at = len(decoded[: error.pos].encode())
    begin = max(0, at - _EXCERPT_BYTES // 2)
    return {"hex": text[begin : begin + _EXCERPT_BYTES].hex(" "), "hex_offset": begin}


# -- in the lake -------------------------------------------------------------------------------------------


def _show_session(
    name: str, place: Place, lake: str | os.PathLike[str] | None, as_of: str | None
) -> dict[str, Any]:
    def ask(query: str, **parameters: Any) -> list[dict[str, Any]]:
        with read_rows(query, lake, as_of=as_of, parameters=parameters) as reader:
            names = reader.schema.names
            return [
                dict(zip(names, row, strict=True))
                for batch in reader
                for row in zip(*json_columns(batch), strict=True)
            ]

    found = ask(_SESSIONS, name=name)
    exact = [session for session in found if session["session_id"] == name]
    session = _the_only(exact or found, name)
    path = actual_path(session["path"])
    if os.path.isfile(path):
        return _show_file(path, place)
    source = session["source_id"]
    events = ask(_EVENTS, source=source, line=place.line, seq=place.seq)
    if events:
        return _remembered(session["path"], events)
    rejects = ask(_REJECTS, source=source, line=place.line)
    reason = rejects[0]["message"] if rejects else "the lake has no event there"
    raise LakeError(f"{session['session_id']} {place}: {reason}, and its file is gone: {session['path']}")


def _the_only(found: list[dict[str, Any]], name: str) -> dict[str, Any]:
    if not found:
        raise LakeError(f"no session begins with {name!r}, and no file is called so")
    if len(found) > 1:
        ids = {session["session_id"] for session in found}
        key = "session_id" if len(ids) > 1 else "path"
        listed = "\n".join(f"  {session[key]}" for session in found[:5])
        more = f"\n  and {len(found) - 5} more" if len(found) > 5 else ""
        what = "sessions begin with" if len(ids) > 1 else "files hold the session"
        raise UsageError(f"{len(found)} {what} {name}:\n{listed}{more}")
    return found[0]


def _remembered(path: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    """What the lake keeps of a line whose file is gone."""
    event = events[0]
    records = [
        {
            "type": one["type"],
            "seq": one["seq"],
            "time": one["time"],
            "data": None if one["data"] is None else _value(one["data"].encode()),
        }
        for one in events
    ]
    notes = ["the file is gone: this is what the lake keeps of it"]
    if any(one["data"] is None for one in events):
        notes.append("the lake keeps no text of it")
    return {
        "path": path,
        **{name: event[name] for name in ("line", "frame", "seq", "time", "type", "is_recovered")},
        "byte_offset": None,
        "record": records[0] if len(records) == 1 else records,
        "notes": notes,
    }
