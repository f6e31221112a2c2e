"""The lines of a session log to rows of every table, one line at a time, all generations alike.

Nothing here migrates a log: each generation's own spelling is mapped to the same rows. What a line
means may depend on lines before it (the open turn, the model that was asked); that and no more is
carried, in a :class:`FileState`. What a line means may also depend on lines after it (an answer, a
replaced sample, the inherited cut): that is left to the queries.

Source: session-archive.md sections 3 to 9, session-generations.md section 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, Struct

from dsh_lake.ingest.state import FileState, HeaderFacts
from dsh_lake.ingest.text import BOM, Lines, is_valid_utf8
from dsh_lake.records import session as records
from dsh_lake.records.session import Envelope, Rejected
from dsh_lake.tables.events import PackedMembers, packed_event_row
from dsh_lake.tables.messages import message_row
from dsh_lake.tables.place import Head, Row, When
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


@dataclass(slots=True)
class RowTarget:
    """Where rows go: one list per table, filled in file order, and how each row is marked."""

    rows: dict[str, list[Row]]
    source_key: int
    batch: int
    with_content: bool
    is_tail: bool = False
    is_recovered: bool = False


class SessionLines:
    """Takes the lines of one session log in order and adds rows to ``target``."""

    def __init__(self, state: FileState, target: RowTarget) -> None:
        self.state = state
        self.target = target
        self._events = target.rows["events"]

    def add(self, lines: Lines) -> None:
        """Read a batch of lines. What cannot be read becomes a row of ``rejects``.

        Raises:
            HeaderRejected: the first non-blank line is no usable header.
        """
        state, marks = self.state, iter(lines.marks[1:])
        position, frame = 0, lines.marks[0].frame
        following = next(marks, None)
        for text in lines.texts:
            while following is not None and following.position <= position:
                frame = following.frame
                following = next(marks, None)
            state.line += 1
            if text and not text.isspace():
                try:
                    if not lines.is_utf8 and not is_valid_utf8(text):
                        raise Rejected("invalid-utf8", "the line is not UTF-8")
                    self._add_line(text, frame)
                except Rejected as rejected:
                    self._add_rejected(lines, position, text, rejected)
                self._count_line(text)
            position += len(text) + 1

    def _count_line(self, text: bytes) -> None:
        state = self.state
        if not self.target.is_recovered:
            state.lines += 1
        if text[-1] == _CR:
            state.note("warn", "carriage-return", "lines end in CR LF; the CR is ignored", line=state.line)

    def _add_line(self, text: bytes, frame: int) -> None:
        state = self.state
        if state.header is None:
            self._read_header(text)
            return
        envelope = records.read_envelope(text)
        self._add_event(envelope, frame)

    def _add_rejected(self, lines: Lines, position: int, text: bytes, rejected: Rejected) -> None:
        """A line that could not be read as one record: two that were joined, or a reject."""
        state = self.state
        if state.header is None:
            raise HeaderRejected("no-header", f"the first line is no session header: {rejected.message}")
        mark = lines.mark_at(position)
        if self._add_glued(text, lines.cuts(position, len(text)), mark.frame):
            return
        state.rejected_lines += not self.target.is_recovered
        state.is_partial = True
        offset = mark.offset if mark.frame else mark.offset + position
        self.add_reject(state.line, mark.frame, offset, rejected.code, rejected.message)

    def add_reject(self, line: int | None, frame: int, offset: int | None, code: str, message: str) -> None:
        """A row of ``rejects`` for something that could not be read."""
        target = self.target
        marks = (target.source_key, target.batch, target.is_tail, target.is_recovered)
        target.rows["rejects"].append((*marks, line, frame or None, offset, code, message))

    def _add_glued(self, text: bytes, cuts: list[int], frame: int) -> bool:
        """A line that is several records, joined where a frame ended without LF: read each of them."""
        if not cuts:
            return False
        edges = (0, *cuts, len(text))
        parts = [text[begin:end] for begin, end in zip(edges, edges[1:], strict=False)]
        try:
            envelopes = [records.read_envelope(part) for part in parts]
        except (Rejected, UnicodeDecodeError):
            return False
        message = "a frame ends without a line end; the records on both sides are read"
        self.state.note("warn", "missing-newline", message, line=self.state.line)
        self.state.is_partial = True
        if not self.target.is_recovered:
            self.state.lines += len(parts) - 1
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

    def _add_event(self, envelope: Envelope, frame: int) -> None:
        kind = envelope.type
        reader = _READERS.get(kind)
        if reader is None:
            if kind in records.PACKED_KINDS:
                self._add_packed(envelope, frame)
                return
            reader = self._other_reader(kind, envelope)
        read, add = reader
        record = read(envelope.data)
        head = self._head(envelope.seq, 1)
        when = self._when(_time_us(envelope.time), record)
        data = envelope.data if self.target.with_content and envelope.data is not UNSET else None
        self._events.append((*head, frame or None, kind, *when, 1, data, None, None, None))
        if add is not None:
            add(self, head, when, record, envelope)

    def _other_reader(self, kind: str, envelope: Envelope) -> _Reader:
        """For a type that is not known: its own row is kept, nothing is made of it."""
        if kind == "session":
            raise Rejected("unexpected-header", "a second session header")
        if envelope.ignorable is not True:
            message = f"events of the unknown type {kind!r}, not marked as ignorable, are kept as they are"
            self.state.note("warn", "unknown-event", message, line=self.state.line, about=kind)
        return _OTHER

    def _add_packed(self, envelope: Envelope, frame: int) -> None:
        record = records.read_data(records.PackedRow, envelope.data)
        try:
            members = PackedMembers(envelope.type, record)
        except ValueError as error:
            raise Rejected("malformed-packed-row", str(error)) from error
        head = self._head(envelope.seq0, len(members.texts))
        when = self._when(_time_us(envelope.time0), record)
        if when[0] is not None:
            self._extend_times(when[0] + 1000 * members.offsets_ms[-1])
        self._events.append(packed_event_row(head, frame, when, members, self.target.with_content))

    def _head(self, seq: Any, members: int) -> Head:
        """The row's place; ``seq`` by position where the record has none."""
        state, target = self.state, self.target
        if seq != state.next_seq:
            seq = self._check_sequence(seq)
        state.next_seq = seq + members
        is_recovered = target.is_recovered
        if not is_recovered:
            state.events += members
            if seq < state.inherited_cut:
                state.inherited_events += min(members, state.inherited_cut - seq)
        return target.source_key, target.batch, target.is_tail, is_recovered, state.line, seq

    def _check_sequence(self, seq: Any) -> int:
        state = self.state
        if seq is UNSET:
            state.note("info", "no-seq", "events without seq are numbered by position", line=state.line)
            return state.next_seq
        if abs(seq) > records.MAX_COUNT:
            raise Rejected("bad-seq", "seq is no whole number that the format can hold")
        if seq > state.next_seq:
            state.note("warn", "seq-gap", "events are missing: seq jumps forward", line=state.line)
        else:
            state.note("warn", "seq-repeat", "seq goes back or repeats; all rows are kept", line=state.line)
        return int(seq)

    def _when(self, at_us: int | None, record: Any) -> When:
        """Time, turn and step; an open turn and step are carried to events that name none."""
        state = self.state
        if at_us is None:
            state.note("info", "no-time", "events without a usable time", line=state.line)
        else:
            self._extend_times(at_us)
        turn, step = record.turn, record.step
        return (
            at_us,
            state.turn if turn is UNSET else _bounded(turn),
            state.step if step is UNSET else _bounded(step),
        )

    def _extend_times(self, at_us: int) -> None:
        state = self.state
        first, last = state.first_event_us, state.last_event_us
        if self.target.is_recovered:
            return
        if first is None or at_us < first:
            state.first_event_us = at_us
        if last is None or at_us > last:
            state.last_event_us = at_us

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
        asked = record.header.config if record.header is not UNSET else record
        if asked is not UNSET:
            self.state.provider = None if asked.provider is UNSET else asked.provider
            self.state.model = None if asked.model is UNSET else asked.model

    def _title(self, head: Head, when: When, record: records.Title, envelope: Envelope) -> None:
        if record.title is not UNSET and self.target.with_content and not self.target.is_recovered:
            self.state.title = record.title

    def _end_seed(self, head: Head, when: When, record: records.EndSeed, envelope: Envelope) -> None:
        state = self.state
        seq = head[-1]
        is_marked = state.header is not None and state.header.format_version >= 2
        if record.inherited is True and is_marked and not self.target.is_recovered:
            state.inherited_cut = seq
            state.inherited_events = state.events - 1

    def _user_message(self, head: Head, when: When, record: records.UserMessage, envelope: Envelope) -> None:
        message = record if record.message is UNSET else record.message
        self._message("user", head, when, message, envelope)

    def _wrapped(self, head: Head, when: When, record: records.WrappedMessage, envelope: Envelope) -> None:
        role = envelope.type.partition("/")[0]
        message = records.Message() if record.message is UNSET else record.message
        self._message(role, head, when, message, envelope)

    def _message(
        self, role: str, head: Head, when: When, message: records.Message, envelope: Envelope, **more: bool
    ) -> None:
        header = self.state.header
        row = message_row(
            head,
            when,
            role,
            message,
            source=message.source,
            is_top_level=header is not None and header.origin != "subagent",
            is_replacement=records.is_replacement(envelope),
            **more,
        )
        self.target.rows["messages"].append(row)

    def _assistant(
        self, head: Head, when: When, record: records.AssistantMessage, envelope: Envelope
    ) -> None:
        message = record.message
        if message is UNSET:
            message = records.Message(content=record.content, source=record.source)
        self._message("assistant", head, when, message, envelope, is_interrupted=record.interrupted is True)
        self._sample(head, when, "message", self._asked(message.source), _usage_of(record))

    def _attempt(self, head: Head, when: When, record: records.AssistantMessage, envelope: Envelope) -> None:
        self._sample(head, when, "attempt", self._asked(record.source), _usage_of(record))

    def _chunk(self, head: Head, when: When, record: records.AssistantChunk, envelope: Envelope) -> None:
        if record.chunk is not UNSET and record.chunk.type == "usage":
            self._sample(head, when, "attempt", self._asked(UNSET), record.chunk.usage)

    def _compaction(self, head: Head, when: When, record: records.Compaction, envelope: Envelope) -> None:
        source = records.MessageSource(provider=record.provider, model=record.model)
        self._sample(head, when, "compaction", self._asked(source), record.usage)

    def _asked(self, source: Any) -> Asked:
        """Whom the call was addressed to: as the record says, else as the open request says."""
        state = self.state
        if source is UNSET or source.model is UNSET:
            return Asked(state.provider, state.model, None)
        served = None
        if source.replay_state is not UNSET and source.replay_state.response is not UNSET:
            model = source.replay_state.response.response_model
            served = None if model is UNSET else model
        return Asked(None if source.provider is UNSET else source.provider, source.model, served)

    def _sample(self, head: Head, when: When, kind: Kind, asked: Asked, usage: Any) -> None:
        if not is_stated(usage):
            return
        sample = read_sample(usage)
        if sample.bad:
            self._note_bad_usage(sample)
        if sample.is_usable:
            self.target.rows["usage"].append((*head, *when, kind, *asked, *sample.counts))

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
        self.target.rows["usage"].append(retry_row(head, when))

    def _tool_call(self, head: Head, when: When, record: records.ToolCall, envelope: Envelope) -> None:
        row = tool_call_row(head, when, record, self.target.with_content)
        self.target.rows["tool_calls"].append(row)

    def _tool_result(self, head: Head, when: When, record: records.ToolResult, envelope: Envelope) -> None:
        row = tool_result_row(head, when, record, records.is_replacement(envelope))
        self.target.rows["tool_results"].append(row)


_Reader = tuple[Callable[[Any], Any], Callable[..., None] | None]


def _reader(record_type: type[Struct], add: Callable[..., None] | None = None) -> _Reader:
    return records.data_reader(record_type), add


_OTHER = _reader(records.Place)
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
    """Milliseconds since the epoch as microseconds; None when absent or beyond any date."""
    if time is UNSET or not -_MAX_TIME_MS <= time <= _MAX_TIME_MS:
        return None
    return time * 1000 if type(time) is int else int(time * 1000)


def _bounded(number: int | None) -> int | None:
    return number if number is not None and -records.MAX_COUNT <= number <= records.MAX_COUNT else None


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
