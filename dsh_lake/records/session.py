"""One line of a session log to a typed record, for every generation v0 to v4.

The envelope is read for every line, with ``data`` left as the source's own bytes; the payloads that
tables are made of are then decoded to the fields that the tables need and no more. Both steps have a
fast path (msgspec) and, for what that refuses, an exact one that keeps every usable field and leaves
an unusable one unset: a plug-in that spells a known key its own way loses that field, not its row.

Source: session-archive.md sections 3 to 8, session-generations.md sections 2 to 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import or_
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dsh_lake.records.strict_json import NotJson, TooDeep, member_spans, parse, without_surrogates
from dsh_lake.records.vocabulary import DIRECT_KINDS, FIRST_PARTY, RENAMED_PLUGINS, SYSTEM_PLUGIN

NEWEST_VERSION = 4
MAX_COUNT = 2**53 - 1
"""Largest whole number that the producer's language holds exactly."""
MAX_TIME_MS = 8_640_000_000_000_000
"""Milliseconds from the epoch to the last instant that is a date in the producer's language."""

Opt = UnsetType
if TYPE_CHECKING:
    OptRaw = Raw | UnsetType
else:
    # Raw takes any JSON, so the decoder lets it stand in no union; that a member is absent is its default.
    OptRaw = Raw
_RecordT = TypeVar("_RecordT", bound=Struct)


class Rejected(Exception):
    """A line that is no record: ``code`` and ``message`` for the row of ``rejects``."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


Whole = Annotated[int, msgspec.Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
"""A whole number that the producer's language holds exactly."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
Time = Annotated[int, msgspec.Meta(ge=-MAX_TIME_MS, le=MAX_TIME_MS)]
"""Whole milliseconds since the epoch that are a date."""
Gap = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31)]
"""Milliseconds between members of a packed row."""


class Envelope(Struct, gc=False):
    """What every line has in common. ``data`` and ``surface_op`` are raw JSON, unset when absent."""

    type: str
    seq: Whole | Opt = UNSET
    time: int | float | Opt = UNSET
    data: OptRaw = UNSET
    surface_op: OptRaw = msgspec.field(default=UNSET, name="surfaceOp")
    ignorable: bool | Opt = UNSET
    seq0: Whole | Opt = UNSET
    time0: int | float | Opt = UNSET


class Event(Struct, tag_field="type", kw_only=True, gc=False):
    """A line that is a numbered and dated event which replaces nothing, together with its payload.

    There is a subclass for each type, in which ``data`` is a record.
    """

    kind: ClassVar[str]
    seq: Whole
    time: Time
    data: Any
    surface_op: Literal["append"] | Opt = msgspec.field(default=UNSET, name="surfaceOp")


class Header(Struct, rename="camel"):
    """The first line. Every field may be missing in some generation; the reader decides what follows."""

    id: str | Opt = UNSET
    version: int | Opt = UNSET
    created_at: int | float | Opt = UNSET
    cwd: str | Opt = UNSET
    parent_session: str | Opt = UNSET
    origin: str | Opt = UNSET
    delegation_depth: Whole | Opt = UNSET
    agent_preset: str | Opt = UNSET
    is_seeded: bool | Opt = UNSET
    seed_length: Whole | Opt = UNSET


class Place(Struct, gc=False):
    """Turn and step, of any event that names them."""

    turn: Whole | Opt | None = UNSET
    step: Whole | Opt | None = UNSET


class Block(Struct, rename="camel", gc=False):
    """A content block; of a tool-result wrapper (v0 to v3) also what it wraps."""

    type: str | None = None
    text: str | None = None
    content: list[Block] | None = None
    is_error: bool | None = None
    tool_call_id: str | None = None


class Response(Struct, rename="camel", gc=False):
    response_model: str | None = None


class ReplayState(Struct, gc=False):
    response: Response | None = None


class MessageSource(Struct, rename="camel", gc=False):
    kind: str | None = None
    plugin: str | None = None
    provider: str | None = None
    model: str | None = None
    call_id: str | None = None
    replay_state: ReplayState | None = None


class Message(Struct, rename="camel", gc=False):
    id: str | None = None
    role: str | None = None
    content: list[Block] | None = None
    source: MessageSource | None = None
    is_error: bool | None = None
    tool_call_id: str | None = None


class Usage(Struct, rename="camel", gc=False):
    """A usage object whose counts are all whole numbers in range; anything else is read loosely."""

    input_tokens: Count
    output_tokens: Count
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    total_tokens: Count | None = None


class Chunk(Struct, gc=False):
    type: str | None = None
    usage: OptRaw = UNSET
    reason: OptRaw = UNSET


class StreamRecord(Struct, gc=False):
    """One record of an embedded stream: a chunk (``time``) or a packed row of them (``time0``)."""

    chunk: Chunk | None = None
    time: int | float | None = None
    time0: int | float | None = None


class UserMessage(Message):
    """``user/message``: the data is the message. Early logs wrap it as ``steering/message`` does."""

    turn: Whole | Opt | None = UNSET
    step: Whole | Opt | None = UNSET
    message: Message | None = None


class WrappedMessage(Place):
    """``system/message``, ``developer/message``."""

    message: Message | None = None


class AssistantMessage(WrappedMessage):
    """``assistant/message`` (``message``, ``usage``) and ``assistant/attempt`` (``source``, ``stream``)."""

    usage: OptRaw = UNSET
    interrupted: bool | None = None
    source: MessageSource | None = None
    content: list[Block] | None = None
    stream: OptRaw = UNSET


class AssistantChunk(Place):
    chunk: Chunk | None = None


class ToolCall(Place, rename="camel"):
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class ToolFailure(Struct, gc=False):
    name: str | None = None
    code: str | None = None


class ToolResult(Place, rename="camel"):
    """``tool/result`` in its three shapes: message (v4), wrapper inside a message, flat."""

    message: Message | None = None
    error: Any = None
    call_id: str | None = None
    content: list[Block] | None = None
    is_error: bool | None = None


class Title(Place):
    title: str | None = None


class EndSeed(Place):
    inherited: bool | None = None


class PackedRow(Place):
    """A storage row of v0 and v1 that stands for several ``assistant/chunk`` events."""

    index: int | None = None
    dt: list[Gap] | None = None
    texts: list[Raw] | None = None
    args: list[Raw] | None = None
    id: OptRaw = UNSET
    name: OptRaw = UNSET


# -- envelope ----------------------------------------------------------------------------------------------

_decode_envelope = msgspec.json.Decoder(Envelope).decode
_ENVELOPE_NAMES = {field.encode_name: field.name for field in msgspec.structs.fields(Envelope)}


def read_envelope(line: bytes) -> Envelope:
    """The envelope of one line (without its LF; valid UTF-8).

    Raises:
        Rejected: ``malformed-json``, ``too-deep`` or ``not-an-event``.
    """
    try:
        return _decode_envelope(line)
    except (msgspec.MsgspecError, RecursionError):
        return _read_envelope_exactly(line)


def event_decoder(record_types: Mapping[str, type[Struct]]) -> Callable[[bytes], Event]:
    """A decoder of lines of these types: envelope and payload in one pass, what the payload says unread.

    It raises MsgspecError or RecursionError for what it does not read, which may be sound all the same;
    what it reads is what :func:`read_envelope` and :func:`read_data` give.
    """
    kinds = [
        msgspec.defstruct(
            f"Event_{number}", [("data", record_type)], bases=(Event,), tag=kind, namespace={"kind": kind}
        )
        for number, (kind, record_type) in enumerate(record_types.items())
    ]
    any_kind: Any = reduce(or_, kinds)
    return msgspec.json.Decoder(any_kind).decode


def _read_envelope_exactly(line: bytes) -> Envelope:
    text = line.decode("utf-8")
    record = _parse_record(text)
    spans = member_spans(text)
    known: dict[str, Any] = {}
    for encoded_name, name in _ENVELOPE_NAMES.items():
        if encoded_name not in record:
            continue
        if name in ("data", "surface_op"):
            begin, end = spans[encoded_name]
            known[name] = Raw(text[begin:end].encode("utf-8"))
        else:
            known[name] = record[encoded_name]
    return Envelope(
        type=without_surrogates(known["type"]),
        seq=_whole(known.get("seq")),
        time=_number(known.get("time")),
        data=known.get("data", UNSET),
        surface_op=known.get("surface_op", UNSET),
        ignorable=known.get("ignorable") is True,
        seq0=_whole(known.get("seq0")),
        time0=_number(known.get("time0")),
    )


def _parse_record(text: str) -> dict[str, Any]:
    try:
        record = parse(text)
    except NotJson as error:
        raise Rejected("malformed-json", f"the line is not JSON: {error}") from error
    except TooDeep as error:
        raise Rejected("too-deep", f"the line is not read: {error}") from error
    if not isinstance(record, dict):
        raise Rejected("not-an-event", "the line is JSON but no object")
    if not isinstance(record.get("type"), str):
        raise Rejected("not-an-event", "the object has no text `type`")
    return record


def _whole(value: Any) -> int | Opt:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -MAX_COUNT <= value <= MAX_COUNT:
        return UNSET
    return int(value) if value == int(value) else UNSET


def _number(value: Any) -> int | float | Opt:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else UNSET


def read_header(line: bytes) -> Header:
    """The header fields of the first line, unusable ones unset. The line must have an envelope."""
    return read_value(Header, line)


def exact_id(line: bytes) -> str:
    """The header's id with lone surrogates spelled as escapes, so that ids that differ stay apart."""
    return str(_parse_record(line.decode("utf-8"))["id"]).encode("utf-8", "backslashreplace").decode("utf-8")


def names_version(line: bytes) -> bool:
    """Whether the header line has a ``version`` member at all, usable or not."""
    return "version" in _parse_record(line.decode("utf-8"))


# -- payloads ----------------------------------------------------------------------------------------------


@cache
def _decoder(record_type: type[_RecordT]) -> msgspec.json.Decoder[_RecordT]:
    return msgspec.json.Decoder(record_type)


def read_data(record_type: type[_RecordT], data: OptRaw) -> _RecordT:
    """The payload of an event as ``record_type``; fields that are absent or unusable stay unset."""
    try:
        record: _RecordT = _decoder(record_type).decode(data)  # type: ignore[arg-type]
        return record
    except (msgspec.MsgspecError, RecursionError, TypeError):  # TypeError: there is no payload
        return read_data_exactly(record_type, data)


def read_data_exactly(record_type: type[_RecordT], data: OptRaw) -> _RecordT:
    """As :func:`read_data`, for a payload that the fast decoder has refused or that is not there."""
    return record_type() if data is UNSET else _read_exactly(record_type, bytes(data))


def read_value(record_type: type[_RecordT], text: bytes | Raw) -> _RecordT:
    """An object inside a payload as ``record_type``; fields that are absent or unusable stay unset."""
    try:
        record: _RecordT = _decoder(record_type).decode(text)
        return record
    except (msgspec.MsgspecError, RecursionError):
        return _read_exactly(record_type, bytes(text))


def _read_exactly(record_type: type[_RecordT], text: bytes) -> _RecordT:
    decoded = text.decode("utf-8")
    try:
        value = parse(decoded)
    except (NotJson, TooDeep):
        return record_type()
    return _coerce_struct(record_type, value)


def _coerce_struct(record_type: type[_RecordT], value: Any) -> _RecordT:
    """A record from a parsed value, keeping each member that fits and dropping each that does not."""
    if not isinstance(value, dict):
        return record_type()
    hints = get_type_hints(record_type)
    kept = {}
    for field in msgspec.structs.fields(record_type):
        if field.encode_name in value:
            coerced = _coerce(hints[field.name], value[field.encode_name])
            if coerced is not UNSET:
                kept[field.name] = coerced
    return record_type(**kept)


def _coerce(hint: Any, value: Any) -> Any:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if hint is Any:
        return value
    if hint is Raw:
        return Raw(_dump(value))
    alternatives = get_args(hint) if get_origin(hint) is not list else (hint,)
    for alternative in alternatives or (hint,):
        if get_origin(alternative) is Annotated:
            alternative = get_args(alternative)[0]
        if get_origin(alternative) is list:
            if isinstance(value, list):
                return _coerce_list(get_args(alternative)[0], value)
        elif isinstance(alternative, type) and issubclass(alternative, Struct):
            if isinstance(value, dict):
                return _coerce_struct(alternative, value)
        elif alternative is str:
            if isinstance(value, str):
                return without_surrogates(value)
        elif alternative is bool:
            if isinstance(value, bool):
                return value
        elif alternative is type(None):
            if value is None:
                return None
        elif alternative is int and (whole := _whole(value)) is not UNSET:
            return whole
        elif alternative is float and (number := _number(value)) is not UNSET:
            return number
    return UNSET


def _coerce_list(member: Any, values: list[Any]) -> Any:
    """Records that fit, without those that do not; of anything else all or none, for there places matter."""
    coerced = [_coerce(member, value) for value in values]
    if isinstance(member, type) and issubclass(member, Struct):
        return [kept for kept in coerced if kept is not UNSET]
    return UNSET if UNSET in coerced else coerced


def _dump(value: Any) -> bytes:
    import json

    return json.dumps(value, ensure_ascii=True).encode("ascii")


# -- values ------------------------------------------------------------------------------------------------


def is_replacement(envelope: Envelope) -> bool:
    """Whether the event re-renders earlier messages for the model (compaction, pruning, a new prompt)."""
    operation = envelope.surface_op
    return operation is not UNSET and b'"replace"' in (text := bytes(operation)) and text[:1] == b"{"


def is_stated(raw: OptRaw) -> TypeGuard[Raw]:
    """Whether a member is there and not null."""
    return raw is not UNSET and bytes(raw) != b"null"


def read_usage(raw: Raw) -> Usage | dict[str, Any]:
    """A usage object: typed when all its counts are sound, else whatever members it has."""
    try:
        return _decode_usage(raw)
    except (msgspec.MsgspecError, RecursionError):
        value = _parse_or_none(bytes(raw))
        return value if isinstance(value, dict) else {}


_decode_usage = msgspec.json.Decoder(Usage).decode


def last_stream_usage(stream: OptRaw) -> OptRaw:
    """The ``usage`` of the last usage chunk in an embedded stream, raw; unset when there is none."""
    for record in reversed(read_stream(stream)):
        chunk = record.chunk
        if chunk is not None and chunk.type == "usage" and is_stated(chunk.usage):
            found: Raw = chunk.usage
            return found
    return UNSET


def first_stream_time(stream: OptRaw) -> int | float | None:
    """When the first record of an embedded stream came, milliseconds since the epoch; None if unknown."""
    if stream is UNSET:
        return None
    if (plain := _PLAIN_STREAM(stream)) is not None:
        return int(plain[1])
    records = read_stream(stream)
    first = records[0] if records else StreamRecord()
    return first.time0 if first.time is None else first.time


_PLAIN_STREAM = re.compile(rb'\[\{"type":"[a-z-]+","time0?":([0-9]{1,15})[,}]').match


def read_stream(stream: OptRaw) -> list[StreamRecord]:
    """The records of an embedded stream; empty when it is none."""
    if stream is UNSET:
        return []
    try:
        return _decoder_of_stream().decode(stream)
    except (msgspec.MsgspecError, RecursionError):
        loose = _coerce(list[StreamRecord], _parse_or_none(bytes(stream)))
        return loose if isinstance(loose, list) else []


@cache
def _decoder_of_stream() -> msgspec.json.Decoder[list[StreamRecord]]:
    return msgspec.json.Decoder(list[StreamRecord])


def _parse_or_none(text: bytes) -> Any:
    try:
        return parse(text.decode("utf-8"))
    except (NotJson, TooDeep):
        return None


def token_count(value: Any) -> int | Literal["bad"] | None:
    """A token count as a whole number from 0 to 2^53-1; None when absent, ``"bad"`` when it is none."""
    if value is None:
        return None
    whole = _whole(value)
    return whole if whole is not UNSET and 0 <= whole <= MAX_COUNT else "bad"


def source_kind(source: MessageSource | None, role: str) -> str | None:
    """Who wrote a message, in v4's words.

    Source: session-generations.md 6.4 (the producer kinds that replace ``plugin``).
    """
    if source is None:
        return None
    if source.kind != "plugin" or source.plugin is None:
        return source.kind
    plugin = source.plugin
    if plugin == SYSTEM_PLUGIN:
        return "system-prompt" if role == "system" else "runtime-context"
    if plugin in RENAMED_PLUGINS:
        return RENAMED_PLUGINS[plugin]
    return plugin if plugin in _KEPT_PLUGINS else f"plugin:{plugin}"


_KEPT_PLUGINS = FIRST_PARTY | DIRECT_KINDS - {"user", "model", "tool"}
"""Plugins whose name is the kind; one that calls itself a user is none."""

PACKED_KINDS = {
    "text-chunks": (b"text-delta", b"text"),
    "reasoning-chunks": (b"reasoning-delta", b"text"),
    "tool-call-chunks": (b"tool-call-delta", b"argumentsDelta"),
}
"""Packed row type to the type of its members' chunks and the member that holds their text."""

KNOWN_TYPES = frozenset(
    [
        "turn/start",
        "turn/end",
        "step/start",
        "step/end",
        "system/message",
        "user/message",
        "developer/message",
        "assistant/chunk",
        "assistant/message",
        "assistant/attempt",
        "tool/call",
        "tool/result",
        "request/header",
        "request/context",
        "session/title",
        "session/title-llm-request",
        "session/end-seed",
        "agent/inbox/spliced",
        "agent-preset/selected",
        "approval/asked",
        "approval/decided",
        "approval/policy",
        "permission/preset",
        "sandbox/mode",
        "model/selection",
        "plan/mode",
        "command/run",
        "command/done",
        "compaction/start",
        "compaction/end",
        "compaction/summary",
        "compaction/prune",
        "image/offload",
        "todo/write",
        "goal/change",
        "schedule/change",
        "hook/invoked",
        "hook/result",
        "llm/retry",
        "llm/retry-started",
        "job/registered",
        "job/settled",
        "subagent/descriptor",
        "subagent/catalog",
        "subagent/model-selection-policy",
        "team/member",
        "team/task",
        "team/message/queued",
        "team/message/delivered",
        "tool/code-dispatch-start",
        "tool/code-dispatch",
        "tool/ptc-dispatch-start",
        "tool/ptc-dispatch",
        "tool-workflow/run-start",
        "tool-workflow/run-end",
        "tool-workflow/agent-start",
        "tool-workflow/agent-end",
        "feedback/record",
        "feedback/message-put",
        "feedback/message-delete",
        "deliverables/presented",
        "workspace/changes",
        "working-directory/change",
        "web/deepseek-search-llm-request",
        "session-log-deepseek/delivery-accepted",
        "steering/message",
        "compact/start",
        "compact/summary",
        "compact/end",
        "compact/prune",
        "mode/set",
        "request/header-delta",
    ]
)
"""Event types of formats v0 to v4, and those retired names that pre-release logs hold."""
