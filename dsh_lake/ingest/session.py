"""The lines of a session log to rows of every table, one line at a time, all generations alike.

Nothing here migrates a log: each generation's own spelling is mapped to the same rows. What a line
means may depend on lines before it (the open turn, the model that was asked); that and no more is
carried, in a :class:`FileState`. What a line means may also depend on lines after it (an answer, a
replaced sample, the inherited cut): that is left to the queries.

Source: session-archive.md sections 3 to 9, session-generations.md section 7.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from dsh_lake.ingest.state import FileState, HeaderFacts
from dsh_lake.ingest.text import BOM, Lines, is_valid_utf8
from dsh_lake.records import session as records
from dsh_lake.records.session import Envelope, Rejected
from dsh_lake.tables.events import PackedMembers, packed_event_row
from dsh_lake.tables.messages import message_row
from dsh_lake.tables.place import Head, When
from dsh_lake.tables.sink import RowSink
from dsh_lake.tables.tools import tool_call_row, tool_result_row
from dsh_lake.tables.usage import Asked, Kind, Sample, is_stated, read_sample, retry_row

_MAX_TIME_MS = 8_640_000_000_000_000
_CR = 13


class HeaderRejected(Exception):
    """The file has no usable header, so none of it can be read; ``version`` where a newer DSH wrote it."""

    def __init__(self, code: str, message: str, *, version: int | None = None) -> None:
        self.code = code
        self.message = message
        self.version = version
        super().__init__(message)

    @property
    def is_newer(self) -> bool:
        """Whether the file is not broken but written by a newer DSH."""
        return self.version is not None


class SessionLines:
    """Takes the lines of one session log in order and adds rows to ``sink``.

    Args:
        state: what is known of the file so far; it is kept up to date.
        sink: where rows go.
        is_recovered: the lines come from a torn frame: their rows are kept, and counted in nothing.
    """

    def __init__(self, state: FileState, sink: RowSink, *, is_recovered: bool = False) -> None:
        self.state = state
        self._sink = sink
        self._rows = sink.rows
        self._events = sink.rows["events"]
        self._with_content = sink.with_content
        self._counts = not is_recovered
        self._begin = 0  # where the events of the current batch begin
        self._packed = 0  # events of the current batch beyond one a row

    def add(self, lines: Lines) -> None:
        """Read a batch of lines. What cannot be read becomes a row of ``rejects``.

        Raises:
            HeaderRejected: the first non-blank line is no usable header.
        """
        state, marks, blank = self.state, iter(lines.marks[1:]), 0
        position, frame = 0, lines.marks[0].frame or None
        following = next(marks, None)
        self._begin = len(self._events)
        for text in lines.texts:
            while following is not None and following.position <= position:
                frame = following.frame
                following = next(marks, None)
            state.line += 1
            if text and not text.isspace():
                try:
                    if lines.is_odd:
                        self._check_line(text)
                    if state.header is None:
                        self._read_header(text)
                    else:
                        self._add_event(records.read_envelope(text), frame)
                except Rejected as rejected:
                    self._add_rejected(lines, position, text, rejected)
            else:
                blank += 1
            position += len(text) + 1
        if self._counts:
            state.lines += len(lines.texts) - blank
            self._count_events()

    def _count_events(self) -> None:
        """Bring counters up to date with the events of this batch."""
        state, rows = self.state, self._events[self._begin :]
        state.events += len(rows) + self._packed
        self._begin, self._packed = len(self._events), 0
        times = [at_us for _, _, _, _, at_us, *_ in rows if at_us is not None]
        if times:
            self._extend_times(min(times), max(times))

    def _extend_times(self, first_us: int, last_us: int) -> None:
        state = self.state
        if state.first_event_us is None or first_us < state.first_event_us:
            state.first_event_us = first_us
        if state.last_event_us is None or last_us > state.last_event_us:
            state.last_event_us = last_us

    def _check_line(self, text: bytes) -> None:
        """A line of a batch in which something is unusual; most often it is another line."""
        if not is_valid_utf8(text):
            raise Rejected("invalid-utf8", "the line is not UTF-8")
        if text[-1] == _CR:
            message = "lines end in CR LF; the CR is ignored"
            self.state.note("warn", "carriage-return", message, line=self.state.line)

    def _add_rejected(self, lines: Lines, position: int, text: bytes, rejected: Rejected) -> None:
        """A line that could not be read as one record: two that were joined, or a reject."""
        state = self.state
        if state.header is None:
            raise HeaderRejected("no-header", f"the first line is no session header: {rejected.message}")
        mark = lines.mark_at(position)
        if self._add_glued(text, lines.cuts(position, len(text)), mark.frame or None):
            return
        state.rejected_lines += self._counts
        state.is_partial = True
        offset = mark.offset if mark.frame else mark.offset + position
        self.add_reject(state.line, mark.frame, offset, rejected.code, rejected.message)

    def add_reject(self, line: int | None, frame: int, offset: int | None, code: str, message: str) -> None:
        """A row of ``rejects`` for something that could not be read."""
        self._rows["rejects"].append((line, frame or None, offset, code, message))

    def _add_glued(self, text: bytes, cuts: list[int], frame: int | None) -> bool:
        """A line that is several records, joined where a frame ended without LF: read each of them."""
        if not cuts:
            return False
        parts = [text[begin:end] for begin, end in pairwise((0, *cuts, len(text)))]
        try:
            envelopes = [records.read_envelope(part) for part in parts]
        except (Rejected, UnicodeDecodeError):
            return False
        state = self.state
        message = "a frame ends without a line end; the records on both sides are read"
        state.note("warn", "missing-newline", message, line=state.line)
        state.is_partial = True
        state.lines += (len(parts) - 1) * self._counts
        for envelope in envelopes:
            self._add_event(envelope, frame)
        return True

    # -- header ------------------------------------------------------------------------------------------

    def _read_header(self, text: bytes) -> None:
        state = self.state
        if text.startswith(BOM):
            text = text[len(BOM) :]
            state.note("warn", "byte-order-mark", "a byte order mark stands before the header", line=1)
        envelope = records.read_envelope(text)
        if envelope.type != "session":
            raise Rejected("no-header", "it is an event")
        state.header = _header_facts(records.read_header(text), text, state)
        state.inherited_cut = state.header.seed_length

    # -- events ------------------------------------------------------------------------------------------

    def _add_event(self, envelope: Envelope, frame: int | None) -> None:
        """The row of one event, and what its type adds. The common case in one go: this runs per line."""
        state, kind, data = self.state, envelope.type, envelope.data
        reader = _READERS.get(kind) or self._other_reader(envelope)
        if reader is _PACKED:
            self._add_packed(envelope, frame)
            return
        decode, record_type, add = reader
        try:
            record = decode(data)
        except (msgspec.MsgspecError, RecursionError, TypeError):
            record = records.read_data_exactly(record_type, data)
        seq, time = envelope.seq, envelope.time
        if seq != state.next_seq:
            seq = self._check_sequence(seq)
        state.next_seq = seq + 1
        at_us = time * 1000 if type(time) is int and 0 <= time <= _MAX_TIME_MS else self._odd_time(time)
        turn, step = record.turn, record.step
        turn = state.turn if turn is UNSET else turn
        step = state.step if step is UNSET else step
        if seq < state.inherited_cut and self._counts:
            state.inherited_events += 1
        kept = data if self._with_content and data is not UNSET else None
        line = state.line
        self._events.append((line, seq, frame, kind, at_us, turn, step, 1, kept, None, None, None))
        if add is not None:
            add(self, (line, seq), (at_us, turn, step), record, envelope)

    def _other_reader(self, envelope: Envelope) -> _Reader:
        """For a type that is not known: its own row is kept, nothing is made of it."""
        kind = envelope.type
        if kind in records.PACKED_KINDS:
            return _PACKED
        if kind == "session":
            raise Rejected("unexpected-header", "a second session header")
        if envelope.ignorable is not True:
            message = f"events of the unknown type {kind!r}, not marked as ignorable, are kept as they are"
            self.state.note("warn", "unknown-event", message, line=self.state.line, about=kind)
        return _OTHER

    def _add_packed(self, envelope: Envelope, frame: int | None) -> None:
        state = self.state
        try:
            members = PackedMembers(envelope.type, records.read_data(records.PackedRow, envelope.data))
        except ValueError as error:
            raise Rejected("malformed-packed-row", str(error)) from error
        seq, count = envelope.seq0, len(members.texts)
        if seq != state.next_seq:
            seq = self._check_sequence(seq)
        state.next_seq = seq + count
        at_us, turn, step = self._odd_time(envelope.time0), members.row.turn, members.row.step
        if self._counts:
            self._packed += count - 1
            state.inherited_events += max(0, min(count, state.inherited_cut - seq))
            if at_us is not None:
                self._extend_times(at_us, at_us + 1000 * members.offsets_ms[-1])
        when = (at_us, state.turn if turn is UNSET else turn, state.step if step is UNSET else step)
        self._events.append(packed_event_row((state.line, seq), frame, when, members, self._with_content))

    def _check_sequence(self, seq: Any) -> int:
        """The number of an event that is not the next one: by position where the record has none."""
        state = self.state
        if seq is UNSET:
            state.note("info", "no-seq", "events without seq are numbered by position", line=state.line)
            return state.next_seq
        if seq > state.next_seq:
            state.note("warn", "seq-gap", "events are missing: seq jumps forward", line=state.line)
        else:
            state.note("warn", "seq-repeat", "seq goes back or repeats; all rows are kept", line=state.line)
        return int(seq)

    def _odd_time(self, time: Any) -> int | None:
        """Microseconds of a time that is no whole number of milliseconds since 1970; None if it is none."""
        if time is not UNSET and -_MAX_TIME_MS <= time <= _MAX_TIME_MS:
            return int(time * 1000)
        self.state.note("info", "no-time", "events without a usable time", line=self.state.line)
        return None

    # -- what particular events add ----------------------------------------------------------------------

    def _turn_start(self, head: Head, when: When, record: Struct, envelope: Envelope) -> None:
        self.state.turn, self.state.step = when[1], None

    def _turn_end(self, head: Head, when: When, record: Struct, envelope: Envelope) -> None:
        self.state.turn = self.state.step = None

    def _step_start(self, head: Head, when: When, record: Struct, envelope: Envelope) -> None:
        self.state.step = when[2]

    def _step_end(self, head: Head, when: When, record: Struct, envelope: Envelope) -> None:
        self.state.step = None

    def _request(self, head: Head, when: When, record: records.Request, envelope: Envelope) -> None:
        asked = record if record.header is None else record.header.config
        if asked is not None:
            self.state.provider, self.state.model = asked.provider, asked.model

    def _title(self, head: Head, when: When, record: records.Title, envelope: Envelope) -> None:
        if record.title is not None and self._with_content and self._counts:
            self.state.title = record.title

    def _end_seed(self, head: Head, when: When, record: records.EndSeed, envelope: Envelope) -> None:
        state = self.state
        is_marked = state.header is not None and state.header.format_version >= 2
        if record.inherited and is_marked and self._counts:
            state.inherited_cut = head[1]
            state.inherited_events = state.events + len(self._events) - self._begin + self._packed - 1

    def _user_message(self, head: Head, when: When, record: records.UserMessage, envelope: Envelope) -> None:
        self._message("user", head, when, record.message or record, envelope)

    def _wrapped(self, head: Head, when: When, record: records.WrappedMessage, envelope: Envelope) -> None:
        role = envelope.type.partition("/")[0]
        self._message(role, head, when, record.message or records.Message(), envelope)

    def _message(
        self,
        role: str,
        head: Head,
        when: When,
        message: records.Message,
        envelope: Envelope,
        is_interrupted: bool = False,
    ) -> None:
        header, replaces = self.state.header, records.is_replacement(envelope)
        is_top_level = header is not None and header.origin != "subagent"
        row = message_row(head, when, role, message, is_top_level, replaces, is_interrupted)
        self._rows["messages"].append(row)

    def _assistant(
        self, head: Head, when: When, record: records.AssistantMessage, envelope: Envelope
    ) -> None:
        message = record.message or records.Message(content=record.content, source=record.source)
        self._message("assistant", head, when, message, envelope, bool(record.interrupted))
        self._sample(head, when, "message", self._asked(message.source), _usage_of(record))

    def _attempt(self, head: Head, when: When, record: records.AssistantMessage, envelope: Envelope) -> None:
        self._sample(head, when, "attempt", self._asked(record.source), _usage_of(record))

    def _chunk(self, head: Head, when: When, record: records.AssistantChunk, envelope: Envelope) -> None:
        if record.chunk is not None and record.chunk.type == "usage":
            self._sample(head, when, "attempt", self._asked(None), record.chunk.usage)

    def _compaction(self, head: Head, when: When, record: records.Compaction, envelope: Envelope) -> None:
        source = records.MessageSource(provider=record.provider, model=record.model)
        self._sample(head, when, "compaction", self._asked(source), record.usage)

    def _asked(self, source: records.MessageSource | None) -> Asked:
        """Whom the call was addressed to: as the record says, else as the open request says."""
        if source is None or source.model is None:
            return self.state.provider, self.state.model, None
        replay = source.replay_state
        served = (
            replay.response.response_model if replay is not None and replay.response is not None else None
        )
        return source.provider, source.model, served

    def _sample(self, head: Head, when: When, kind: Kind, asked: Asked, usage: Any) -> None:
        if not is_stated(usage):
            return
        sample = read_sample(usage)
        if sample.bad:
            self._note_bad_usage(sample)
        if sample.is_usable:
            self._rows["usage"].append((*head, *when, kind, *asked, *sample.counts))

    def _note_bad_usage(self, sample: Sample) -> None:
        state = self.state
        state.is_partial = True
        if sample.is_usable:
            message = "a usage count that is no whole number from 0 to 2^53-1 is left unknown"
            state.note("warn", "bad-usage", message, line=state.line, about="optional")
        else:
            message = "a usage sample without usable input and output counts is not counted"
            state.note("fail", "bad-usage", message, line=state.line, about="required")

    def _retry_started(self, head: Head, when: When, record: Struct, envelope: Envelope) -> None:
        self._rows["usage"].append(retry_row(head, when))

    def _tool_call(self, head: Head, when: When, record: records.ToolCall, envelope: Envelope) -> None:
        row = tool_call_row(head, when, record, self._with_content)
        self._rows["tool_calls"].append(row)

    def _tool_result(self, head: Head, when: When, record: records.ToolResult, envelope: Envelope) -> None:
        row = tool_result_row(head, when, record, records.is_replacement(envelope))
        self._rows["tool_results"].append(row)


_Reader = tuple[Callable[[Any], Any], type[Struct], Callable[..., None] | None]


def _reader(record_type: type[Struct], add: Callable[..., None] | None = None) -> _Reader:
    return msgspec.json.Decoder(record_type).decode, record_type, add


_OTHER = _reader(records.Place)
_PACKED = _reader(records.PackedRow)
_READERS: dict[str, _Reader] = dict.fromkeys(records.KNOWN_TYPES, _OTHER) | {
    "turn/start": _reader(records.Place, SessionLines._turn_start),
    "turn/end": _reader(records.Place, SessionLines._turn_end),
    "step/start": _reader(records.Place, SessionLines._step_start),
    "step/end": _reader(records.Place, SessionLines._step_end),
    "request/header": _reader(records.Request, SessionLines._request),
    "request/context": _reader(records.Request, SessionLines._request),
    "session/title": _reader(records.Title, SessionLines._title),
    "session/end-seed": _reader(records.EndSeed, SessionLines._end_seed),
    "user/message": _reader(records.UserMessage, SessionLines._user_message),
    "system/message": _reader(records.WrappedMessage, SessionLines._wrapped),
    "developer/message": _reader(records.WrappedMessage, SessionLines._wrapped),
    "assistant/message": _reader(records.AssistantMessage, SessionLines._assistant),
    "assistant/attempt": _reader(records.AssistantMessage, SessionLines._attempt),
    "assistant/chunk": _reader(records.AssistantChunk, SessionLines._chunk),
    "compaction/summary": _reader(records.Compaction, SessionLines._compaction),
    "compact/summary": _reader(records.Compaction, SessionLines._compaction),
    "llm/retry-started": _reader(records.Place, SessionLines._retry_started),
    "tool/call": _reader(records.ToolCall, SessionLines._tool_call),
    "tool/result": _reader(records.ToolResult, SessionLines._tool_result),
}
"""Event type to how its payload is read and what it adds besides its own row of ``events``."""


def _usage_of(record: records.AssistantMessage) -> Any:
    return record.usage if is_stated(record.usage) else records.last_stream_usage(record.stream)


def _time_us(time: Any) -> int | None:
    return None if time is UNSET or not -_MAX_TIME_MS <= time <= _MAX_TIME_MS else int(time * 1000)


def _header_facts(header: records.Header, text: bytes, state: FileState) -> HeaderFacts:
    if header.id is UNSET or not header.id:
        raise HeaderRejected("no-header", "the header has no usable id")
    version = header.version
    if version is UNSET:
        if records.names_version(text):
            raise HeaderRejected("no-header", "the header's version is no whole number")
        state.note("warn", "no-version", "the header has no version; it is read as format 0", line=1)
        version = 0
    if not 0 <= version <= records.MAX_COUNT:
        raise HeaderRejected("no-header", "the header's version is out of range")
    if version > records.NEWEST_VERSION:
        message = (
            f"written in format {version} by a newer DSH; this version reads formats 0 to "
            f"{records.NEWEST_VERSION}"
        )
        raise HeaderRejected("unsupported-version", message, version=version)
    is_seeded, seed_length = _seed(header, version)

    def known(value: Any) -> Any:
        return None if value is UNSET else value

    return HeaderFacts(
        session_id=header.id,
        format_version=version,
        created_at_us=_time_us(header.created_at),
        cwd=known(header.cwd),
        parent_session_id=known(header.parent_session),
        origin=known(header.origin),
        delegation_depth=known(header.delegation_depth),
        agent_preset=known(header.agent_preset),
        is_seeded=is_seeded,
        seed_length=seed_length,
    )


def _seed(header: records.Header, version: int) -> tuple[bool | None, int]:
    """Whether the session is seeded and, in v0 and v1, how many leading events are inherited."""
    if version >= 2:
        return (None if header.is_seeded is UNSET else header.is_seeded), 0
    if header.seed_length is UNSET or not 0 <= header.seed_length <= records.MAX_COUNT:
        return False, 0
    return True, header.seed_length
