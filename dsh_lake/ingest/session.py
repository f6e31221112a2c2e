"""The lines of a session log to rows of every table, one line at a time, all generations alike.

Nothing here migrates a log: each generation's own spelling is mapped to the same rows. What a line
means may depend on lines before it (the open turn, the model that was asked); that and no more is
carried, in a :class:`FileState`. What a line means may also depend on lines after it (an answer, a
replaced sample, the inherited cut): that is left to the queries.

Source: session-archive.md sections 3 to 9, session-generations.md section 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import compress, count, pairwise
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from dsh_lake.ingest.state import FileState, HeaderFacts
from dsh_lake.ingest.text import BOM, Lines, is_valid_utf8
from dsh_lake.records import facts
from dsh_lake.records import session as records
from dsh_lake.records.session import Envelope, Rejected
from dsh_lake.tables.events import PackedMembers, packed_event_row
from dsh_lake.tables.facts import FACTS, Describe, fact_row
from dsh_lake.tables.messages import message_row
from dsh_lake.tables.place import Head, When
from dsh_lake.tables.sink import RowSink
from dsh_lake.tables.tools import tool_call_row, tool_result_row
from dsh_lake.tables.usage import Asked, Kind, Sample, read_sample

_Line = tuple[int, bytes, int | None]
"""Number, text without its LF, and frame."""

_AT = 4
"""Where the time stands in a row of events."""

_NO_SAMPLE = (None, None)
_CR, _BRACE, _BRACKET = b"\r}]"


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
        state, before = self.state, self.state.line
        blank = lines.texts.count(b"")
        self._begin = len(self._events)
        # A small file can hold a thousand million empty lines: they are passed over without a look at each.
        if blank < len(lines.texts):
            numbered = zip(count(before + 1), lines.texts, lines.frames())
            blank += self._add_lines(lines, compress(numbered, lines.texts))
        state.line = before + len(lines.texts)
        if self._counts:
            state.lines += len(lines.texts) - blank
            self._count_events()

    def _add_lines(self, lines: Lines, rest: Iterator[_Line]) -> int:
        """Read lines that are not empty; says how many of them are blank all the same."""
        state, first, blank = self.state, self.state.line + 1, 0
        is_plain = not lines.is_odd and state.header is not None
        while (found := self._add_plain(rest) if is_plain else next(rest, None)) is not None:
            state.line, text, frame = found
            if text.isspace():
                blank += 1
                continue
            try:
                self._add_line(text, frame, lines.is_odd)
            except Rejected as rejected:
                self._add_rejected(lines, state.line - first, text, rejected)
            is_plain = not lines.is_odd
        return blank

    def _add_plain(self, lines: Iterator[_Line]) -> _Line | None:
        """Read lines as long as each can be read in one pass. Returns the first other one, nothing done."""
        return self._add_kept(lines) if self._with_content else self._add_typed(lines)

    def _add_typed(self, lines: Iterator[_Line]) -> _Line | None:
        """As `_add_plain`, where nobody asks for the text of payloads: one decoder reads the whole line."""
        state, put = self.state, self._put
        decode, readers = _event_decoder(), _READERS
        for line in lines:
            state.line, text, frame = line
            try:
                event = decode(text)
            except (msgspec.MsgspecError, RecursionError):
                return line
            put(readers[event.kind], event.data, None, event.seq, 1000 * event.time, frame, False)
        return None

    def _add_kept(self, lines: Iterator[_Line]) -> _Line | None:
        """As `_add_plain`, where payloads are kept: lines that are spelled as the producer spells its events.

        What is around ``data`` is matched to the letter and ``data`` is decoded by itself, so nothing else
        can be in the line. Stops at a line whose spelling is another or whose payload is odd.
        """
        state, put = self.state, self._put
        begins, readers, end_of_data = _PLAIN_START, _BY_NAME, _end_of_data
        for line in lines:
            state.line, text, frame = line
            match = begins(text)
            if match is None or text[-1] != _BRACE:
                return line
            name, seq, time = match.groups()
            reader = readers.get(name)
            if reader is None:
                return line
            data = text[match.end() : end_of_data(text) if reader.is_surface else -1]
            try:
                record = reader.decode(data)
            except (msgspec.MsgspecError, RecursionError):
                return line
            put(reader, record, data, int(seq), 1000 * int(time), frame, False)
        return None

    def _add_line(self, text: bytes, frame: int | None, is_odd: bool) -> None:
        """Read a line that is not blank, however it is spelled."""
        if is_odd:
            self._check_line(text)
        if self.state.header is None:
            self._read_header(text)
        else:
            self._add_event(records.read_envelope(text), frame)

    def _count_events(self) -> None:
        """Bring counters up to date with the events of this batch."""
        state, rows = self.state, self._events[self._begin :]
        state.events += len(rows) + self._packed
        self._begin, self._packed = len(self._events), 0
        times = [row[_AT] for row in rows if row[_AT] is not None]
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

    def _add_rejected(self, lines: Lines, index: int, text: bytes, rejected: Rejected) -> None:
        """A line that could not be read as one record: two that were joined, or a reject."""
        state = self.state
        if state.header is None:
            raise HeaderRejected("no-header", f"the first line is no session header: {rejected.message}")
        position = lines.starts()[index]
        if not self._add_glued(lines, position, text):
            self._reject_at(lines, position, rejected.code, rejected.message)
            state.is_partial = True

    def reject_line(self, lines: Lines, index: int, code: str, message: str) -> None:
        """Count the current line, of that place in its batch, as rejected; a row says where it is."""
        self._reject_at(lines, lines.starts()[index], code, message)

    def _reject_at(self, lines: Lines, position: int, code: str, message: str) -> None:
        state = self.state
        state.rejected_lines += self._counts
        mark = lines.mark_at(position)
        offset = mark.offset + position if state.encoding == "plain" else mark.offset
        self.add_reject(state.line, mark.frame, offset, code, message)

    def add_reject(self, line: int | None, frame: int, offset: int | None, code: str, message: str) -> None:
        """A row of ``rejects`` for something that could not be read."""
        self._rows["rejects"].append((line, frame or None, offset, code, message))

    def _add_glued(self, lines: Lines, position: int, text: bytes) -> bool:
        """A line that is several records, joined where a frame ended without LF: read each of them."""
        cuts = lines.cuts(position, len(text))
        if not cuts:
            return False
        places = list(pairwise((0, *cuts, len(text))))
        try:
            envelopes = [records.read_envelope(text[begin:end]) for begin, end in places]
        except (Rejected, UnicodeDecodeError):
            return False
        state = self.state
        message = "a frame ends without a line end; the records on both sides are read"
        state.note("warn", "missing-newline", message, line=state.line)
        state.is_partial = True
        state.lines += (len(places) - 1) * self._counts
        frame = lines.mark_at(position).frame or None
        for envelope, (begin, _) in zip(envelopes, places, strict=True):
            try:
                self._add_event(envelope, frame)
            except Rejected as rejected:
                self._reject_at(lines, position + begin, rejected.code, rejected.message)
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
        if state.header.seed_length:
            state.inherited_cut = state.header.seed_length

    # -- events ------------------------------------------------------------------------------------------

    def _add_event(self, envelope: Envelope, frame: int | None) -> None:
        """Read an event however it is spelled."""
        kind, data = envelope.type, envelope.data
        if kind in records.PACKED_KINDS:
            self._add_packed(envelope, frame)
            return
        reader = _READERS.get(kind) or self._other_reader(envelope)
        record = records.read_data(reader.record_type, data)
        seq = self.state.next_seq if envelope.seq is UNSET else envelope.seq
        if envelope.seq is UNSET:
            self.state.note(
                "info", "no-seq", "events without seq are numbered by position", line=self.state.line
            )
        at_us = self._time_us(envelope.time)
        kept = bytes(data) if self._with_content and data is not UNSET else None
        self._put(reader, record, kept, seq, at_us, frame, records.is_replacement(envelope))

    def _put(
        self,
        reader: _Reader,
        record: Any,
        kept: bytes | None,
        seq: int,
        at_us: int | None,
        frame: int | None,
        is_replacement: bool,
    ) -> None:
        """The row of one event, with what is kept of its payload, and what its type adds."""
        state = self.state
        if seq != state.next_seq:
            self._note_sequence(seq)
        state.next_seq = seq + 1
        turn, step = record.turn, record.step
        turn = state.turn if turn is UNSET else turn
        step = state.step if step is UNSET else step
        if seq < state.inherited_cut and self._counts:
            state.inherited_events += 1
        line = state.line
        self._events.append((line, seq, frame, reader.kind, at_us, turn, step, 1, kept, None, None, None))
        if reader.add is not None:
            reader.add(self, (line, seq), (at_us, turn, step), record, is_replacement)

    def _other_reader(self, envelope: Envelope) -> _Reader:
        """For a type that is not known: its own row is kept, nothing is made of it."""
        kind = envelope.type
        if kind == "session":
            raise Rejected("unexpected-header", "a second session header")
        if envelope.ignorable is not True:
            message = f"events of the unknown type {kind!r}, not marked as ignorable, are kept as they are"
            self.state.note("warn", "unknown-event", message, line=self.state.line, about=kind)
        return _Reader(kind, records.Place)

    def _add_packed(self, envelope: Envelope, frame: int | None) -> None:
        state = self.state
        try:
            members = PackedMembers(envelope.type, records.read_data(records.PackedRow, envelope.data))
        except ValueError as error:
            raise Rejected("malformed-packed-row", str(error)) from error
        seq, count = self._number(envelope.seq0), len(members.texts)
        if seq != state.next_seq:
            self._note_sequence(seq)
        state.next_seq = seq + count
        at_us, turn, step = self._time_us(envelope.time0), members.row.turn, members.row.step
        if self._counts:
            self._packed += count - 1
            state.inherited_events += max(0, min(count, state.inherited_cut - seq))
            if at_us is not None:
                self._extend_times(at_us, at_us + 1000 * members.offsets_ms[-1])
        when = (at_us, state.turn if turn is UNSET else turn, state.step if step is UNSET else step)
        self._events.append(packed_event_row((state.line, seq), frame, when, members, self._with_content))

    def _number(self, seq: int | UnsetType) -> int:
        """The number of an event, by position where the record has none."""
        state = self.state
        if seq is not UNSET:
            return seq
        state.note("info", "no-seq", "events without seq are numbered by position", line=state.line)
        return state.next_seq

    def _note_sequence(self, seq: int) -> None:
        state = self.state
        if seq > state.next_seq:
            state.note("warn", "seq-gap", "events are missing: seq jumps forward", line=state.line)
        else:
            state.note("warn", "seq-repeat", "seq goes back or repeats; all rows are kept", line=state.line)

    def _time_us(self, time: Any) -> int | None:
        """Milliseconds since the epoch as microseconds; None, with a remark, when that is no date."""
        at_us = _time_us(time)
        if at_us is None:
            self.state.note("info", "no-time", "events without a usable time", line=self.state.line)
        return at_us

    # -- what particular events add ----------------------------------------------------------------------

    def _turn_start(self, head: Head, when: When, record: Struct, is_replacement: bool) -> None:
        self.state.turn, self.state.step = when[1], None

    def _turn_end(self, head: Head, when: When, record: Struct, is_replacement: bool) -> None:
        self.state.turn = self.state.step = None

    def _step_start(self, head: Head, when: When, record: Struct, is_replacement: bool) -> None:
        self.state.step = when[2]

    def _step_end(self, head: Head, when: When, record: Struct, is_replacement: bool) -> None:
        self.state.step = None

    def _request(self, head: Head, when: When, record: facts.Request, is_replacement: bool) -> None:
        asked = record if record.header is None else record.header.config
        if asked is not None:
            self.state.provider, self.state.model = asked.provider, asked.model

    def _title(self, head: Head, when: When, record: records.Title, is_replacement: bool) -> None:
        if record.title is not None and self._with_content and self._counts:
            self.state.title = record.title

    def _end_seed(self, head: Head, when: When, record: records.EndSeed, is_replacement: bool) -> None:
        state = self.state
        is_marked = state.header is not None and state.header.format_version >= 2
        if record.inherited and is_marked and self._counts:
            state.inherited_cut = head[1]
            state.inherited_events = state.events + len(self._events) - self._begin + self._packed - 1

    def _user_message(
        self, head: Head, when: When, record: records.UserMessage, is_replacement: bool
    ) -> None:
        self._message("user", head, when, record.message or record, is_replacement)

    def _system(self, head: Head, when: When, record: records.WrappedMessage, is_replacement: bool) -> None:
        self._message("system", head, when, record.message or records.Message(), is_replacement)

    def _developer(
        self, head: Head, when: When, record: records.WrappedMessage, is_replacement: bool
    ) -> None:
        self._message("developer", head, when, record.message or records.Message(), is_replacement)

    def _message(
        self,
        role: str,
        head: Head,
        when: When,
        message: records.Message,
        is_replacement: bool,
        *reply: Any,
    ) -> None:
        header = self.state.header
        is_top_level = header is not None and header.origin != "subagent"
        row = message_row(head, when, role, message, is_top_level, is_replacement, *reply)
        self._rows["messages"].append(row)

    def _assistant(
        self, head: Head, when: When, record: records.AssistantMessage, is_replacement: bool
    ) -> None:
        message = record.message or records.Message(content=record.content, source=record.source)
        began = _time_us(records.first_stream_time(record.stream))
        asked = self._asked(message.source)
        model = asked[1]
        if not is_replacement:
            self.state.reply = (when[1], when[2], model)
        self._message(
            "assistant", head, when, message, is_replacement, bool(record.interrupted), began, model
        )
        self._sample(head, when, "message", asked, _usage_of(record))

    def _attempt(
        self, head: Head, when: When, record: records.AssistantMessage, is_replacement: bool
    ) -> None:
        self._sample(head, when, "attempt", self._asked(record.source), _usage_of(record))

    def _chunk(self, head: Head, when: When, record: records.AssistantChunk, is_replacement: bool) -> None:
        if record.chunk is not None and record.chunk.type == "usage":
            self._sample(head, when, "attempt", self._asked(None), record.chunk.usage)

    def _compaction(self, head: Head, when: When, record: facts.Compaction, is_replacement: bool) -> None:
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
        if not records.is_stated(usage):
            return
        sample = read_sample(usage)
        if sample.bad:
            self._note_bad_usage(sample)
        if sample.is_usable:
            replaced = self._replaced(head, when) if kind != "compaction" else _NO_SAMPLE
            self._rows["usage"].append((*head, *when, kind, *asked, *sample.counts, *replaced))

    def _replaced(self, head: Head, when: When) -> tuple[int | None, int | None]:
        """Line and seq of the sample in whose place that at ``head`` stands, by the harness's own fold: the
        one before it, if it is of the same turn and step."""
        before, (_, turn, step), (line, seq) = self.state.sample, when, head
        self.state.sample = (turn, step, line, seq)
        if before is None or step is None or before[:2] != (turn, step):
            return _NO_SAMPLE
        return before[2:]

    def _note_bad_usage(self, sample: Sample) -> None:
        state = self.state
        state.is_partial = True
        if sample.is_usable:
            message = "a usage count that is no whole number from 0 to 2^53-1 is left unknown"
            state.note("warn", "bad-usage", message, line=state.line, about="optional")
        else:
            message = "a usage sample without usable input and output counts is not counted"
            state.note("fail", "bad-usage", message, line=state.line, about="required")

    def _retry_started(self, head: Head, when: When, record: Struct, is_replacement: bool) -> None:
        """What came before in that step was billed, and so will be what comes."""
        sample = self.state.sample
        if sample is not None and sample[:2] == when[1:]:
            self.state.sample = None

    def _tool_call(self, head: Head, when: When, record: records.ToolCall, is_replacement: bool) -> None:
        self.state.mark_call(record.call_id, 0)
        reply = self.state.reply
        model = reply[2] if reply is not None and reply[:2] == when[1:] else None
        row = tool_call_row(head, when, record, model, self._with_content)
        self._rows["tool_calls"].append(row)

    def _tool_result(self, head: Head, when: When, record: records.ToolResult, is_replacement: bool) -> None:
        row = tool_result_row(head, when, record, is_replacement)
        if not is_replacement:
            self.state.mark_call(row[2], 1)
        self._rows["tool_results"].append(row)


_Add = Callable[[SessionLines, Head, When, Any, bool], None]


class _Reader:
    """How the payload of an event type is read, and what it adds besides its own row of ``events``."""

    __slots__ = ("add", "decode", "is_surface", "kind", "record_type")

    def __init__(self, kind: str, record_type: type[Struct], add: _Add | None = None) -> None:
        self.kind = kind
        self.record_type = record_type
        self.is_surface = kind.endswith("/message") or kind == "tool/result"
        self.decode = msgspec.json.Decoder(record_type).decode
        self.add = add


def _reader(kind: str) -> _Reader:
    """The reader of a known type: it adds what ``_ADDS`` says, and a row of facts where ``FACTS`` says so."""
    add = _ADDS.get(kind)
    record_type, describe = FACTS.get(kind, (records.Place, None))
    if add is not None:
        record_type = add[0]
    adds = add[1] if add is not None else None
    return _Reader(kind, record_type, adds if describe is None else _with_facts(kind, describe, adds))


_ASKING = frozenset({"turn/start", "assistant/attempt", "assistant/chunk"})
"""Events that belong to the open request where they name no model themselves."""


def _with_facts(kind: str, describe: Describe, also: _Add | None) -> _Add:
    def add(lines: SessionLines, head: Head, when: When, record: Any, is_replacement: bool) -> None:
        stated = describe(record)
        if stated is not None:
            if kind in _ASKING and stated.get("model") is None:
                stated |= {"provider": lines.state.provider, "model": lines.state.model}
            lines._rows["event_facts"].append(fact_row(head, when, kind, is_replacement, stated))
        if also is not None:
            also(lines, head, when, record, is_replacement)

    return add


_ADDS: dict[str, tuple[type[Struct], _Add]] = {
    "turn/start": (records.Place, SessionLines._turn_start),
    "turn/end": (facts.TurnEnd, SessionLines._turn_end),
    "step/start": (records.Place, SessionLines._step_start),
    "step/end": (records.Place, SessionLines._step_end),
    "request/header": (facts.Request, SessionLines._request),
    "request/context": (facts.Request, SessionLines._request),
    "session/title": (records.Title, SessionLines._title),
    "session/end-seed": (records.EndSeed, SessionLines._end_seed),
    "user/message": (records.UserMessage, SessionLines._user_message),
    "system/message": (records.WrappedMessage, SessionLines._system),
    "developer/message": (records.WrappedMessage, SessionLines._developer),
    "assistant/message": (records.AssistantMessage, SessionLines._assistant),
    "assistant/attempt": (records.AssistantMessage, SessionLines._attempt),
    "assistant/chunk": (records.AssistantChunk, SessionLines._chunk),
    "compaction/summary": (facts.Compaction, SessionLines._compaction),
    "compact/summary": (facts.Compaction, SessionLines._compaction),
    "llm/retry-started": (facts.Retry, SessionLines._retry_started),
    "tool/call": (records.ToolCall, SessionLines._tool_call),
    "tool/result": (records.ToolResult, SessionLines._tool_result),
}
"""Event type to the payload that is read of it and what that adds; other types add their own row only."""

_READERS = {kind: _reader(kind) for kind in sorted(records.KNOWN_TYPES)}
_BY_NAME = {kind.encode(): reader for kind, reader in _READERS.items()}

# A name without escapes, whole numbers without sign that no arithmetic here can overflow.
_PLAIN_START = re.compile(
    rb'\{"type":"([a-z/-]+)","seq":(0|[1-9][0-9]{0,14}),"time":(0|[1-9][0-9]{0,14}),"data":'
).match
_APPENDED = b',"surfaceOp":"append"}'
_APPENDED_FROM = b',"surfaceOp":"append","sourceEventSeqs":['
_SEQS = re.compile(rb"(?:0|[1-9][0-9]{0,14})(?:,(?:0|[1-9][0-9]{0,14}))*").fullmatch
_LONGEST_SEQS = 400


@cache
def _event_decoder() -> Callable[[bytes], records.Event]:
    return records.event_decoder({kind: reader.record_type for kind, reader in _READERS.items()})


def _end_of_data(text: bytes) -> int:
    """Where ``data`` ends in a plainly begun line that ends in a brace, if what follows it is plainly spelled
    too; where it does not, the slice up to there is no JSON value."""
    if text.endswith(_APPENDED):
        return -len(_APPENDED)
    if text[-2] == _BRACKET:
        at = text.rfind(_APPENDED_FROM, -_LONGEST_SEQS)
        if at > 0 and _SEQS(text, at + len(_APPENDED_FROM), len(text) - 2):
            return at
    return -1


def _usage_of(record: records.AssistantMessage) -> Any:
    return record.usage if records.is_stated(record.usage) else records.last_stream_usage(record.stream)


def _time_us(time: Any) -> int | None:
    if time is UNSET or time is None or not -records.MAX_TIME_MS <= time <= records.MAX_TIME_MS:
        return None
    return int(time * 1000)


def _header_facts(header: records.Header, text: bytes, state: FileState) -> HeaderFacts:
    if header.id is UNSET or not header.id:
        raise HeaderRejected("no-header", "the header has no usable id")
    version = header.version
    if version is UNSET:
        if records.names_version(text):
            raise HeaderRejected("no-header", "the header's version is no whole number")
        state.note("warn", "no-version", "the header has no version; it is read as format 0", line=1)
        version = 0
    if version < 0:
        raise HeaderRejected("no-header", "the header's version is negative")
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
        session_id=records.exact_id(text) if "\ufffd" in header.id else header.id,
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
