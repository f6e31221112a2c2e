"""What a reader knows of a file so far: enough to go on later from the last complete frame.

A :class:`FileState` is all that the next scan needs besides the file itself. It travels as JSON in the
``resume`` column of ``sources``.
"""

from __future__ import annotations

from zlib import crc32

import msgspec
from msgspec import Struct

NO_CUT = -(2**62)
"""Lower than any seq: nothing is inherited."""
MOST_CALL_MARKS = 8192
"""Calls and results of a file of which marks are kept; a file with more may repeat ids for all we know."""
MOST_NOTES = 1000
"""Remarks on a file that are told one by one."""


class Note(Struct):
    """A remark on a file, met once or many times: a finding that is no reject."""

    severity: str
    code: str
    message: str
    count: int = 0
    line: int | None = None


class HeaderFacts(Struct):
    """What the header line says, in the lake's words and units."""

    session_id: str
    format_version: int
    created_at_us: int | None = None
    cwd: str | None = None
    parent_session_id: str | None = None
    origin: str | None = None
    delegation_depth: int | None = None
    agent_preset: str | None = None
    is_seeded: bool | None = None
    seed_length: int = 0


class FileState(Struct):
    """Counters and carried values of one file, up to ``offset``.

    Sizes are bytes; ``frames`` counts complete data frames, good or bad; ``line`` is the number of the
    last line read, blank ones included; ``next_seq`` what the next event should be numbered.
    """

    offset: int = 0
    encoding: str | None = None
    frames: int = 0
    bad_frames: int = 0
    skippable_frames: int = 0
    good_frame_bytes: int = 0
    bad_frame_bytes: int = 0
    skippable_bytes: int = 0
    unframed_bytes: int = 0
    decoded_bytes: int = 0
    line: int = 0
    lines: int = 0
    rejected_lines: int = 0
    is_partial: bool = False
    header: HeaderFacts | None = None
    events: int = 0
    next_seq: int = 0
    turn: int | None = None
    step: int | None = None
    provider: str | None = None
    model: str | None = None
    reply: tuple[int | None, int | None, str | None] | None = None
    """Turn, step and model of the last reply."""
    sample: tuple[int | None, int | None, int, int] | None = None
    """Turn, step, line and seq of the usage sample that the next one may replace."""
    inherited_cut: int = NO_CUT
    inherited_events: int = 0
    title: str | None = None
    first_event_us: int | None = None
    last_event_us: int | None = None
    call_marks: set[int] = set()
    """Of every call and result so far a mark made from its id."""
    has_repeated_calls: bool = False
    """An id was used for two calls or two results, or there are too many to know."""
    notes: dict[str, Note] = {}

    def note(
        self, severity: str, code: str, message: str, *, line: int | None = None, about: str = ""
    ) -> None:
        """Count a remark; remarks of one ``code`` and ``about`` are told once, with the first line.

        In a file with more than ``MOST_NOTES`` remarkable things the last of them stands for the rest.
        """
        key = f"{code} {about}"
        note = self.notes.get(key)
        if note is None and about and len(self.notes) >= MOST_NOTES:
            key, message = f"{code} and others", f"{message}; and others of the kind"
            note = self.notes.get(key)
        if note is None:
            note = self.notes[key] = Note(severity, code, message, line=line)
        note.count += 1

    def mark_call(self, call_id: str | None, kind: int) -> None:
        """Take note of a call (``kind`` 0) or a result (1)."""
        if self.has_repeated_calls:
            return
        mark = -1 if call_id is None else crc32(call_id.encode("utf-8", "surrogatepass"), kind)
        if mark < 0 or mark in self.call_marks or len(self.call_marks) == MOST_CALL_MARKS:
            self.has_repeated_calls = True
            self.call_marks.clear()
        else:
            self.call_marks.add(mark)

    def copy(self) -> FileState:
        """An independent copy, as it would come back from :func:`dump`."""
        return load(dump(self))


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(FileState).decode


def dump(state: FileState) -> str:
    """The state as JSON text."""
    return _encode(state).decode()


def load(text: str) -> FileState:
    """The state from JSON text."""
    return _decode(text)
