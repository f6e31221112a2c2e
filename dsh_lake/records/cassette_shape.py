"""The shape of a usual interaction as msgspec types: a fast yes to checks that are costly one by one.

The rule: what ``usual_interaction`` accepts passes every check of spec section 4 that needs no hash (1 to
11), and is its own canonical text; its facts are those that ``cassette_checks`` gives. A refusal means
nothing. Only shapes without free-form content are described, since there nothing but the fields below can
hold a number or a name: that is what makes msgspec's spelling and order provably the canonical one.

Source: spec/cassette.md sections 2, 4 and 5.
"""

from __future__ import annotations

from hashlib import sha256
from operator import methodcaller
from typing import Annotated, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from dsh_lake.canonical import MAX_SAFE_INTEGER
from dsh_lake.records.cassette_facts import STOP_REASONS, Interaction

_Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
_Positive = Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER)]
_Text = Annotated[str, Meta(min_length=1)]
_Digest = Annotated[str, Meta(min_length=71, max_length=71)]
_Milliseconds = _Count | float


class _Shape(Struct, forbid_unknown_fields=True, gc=False):
    pass


class _TextBlock(_Shape, tag_field="type", tag="text"):
    text: str


class _ReasoningBlock(_Shape, tag_field="type", tag="reasoning"):
    text: str


class _ToolCallBlock(_Shape, tag_field="type", tag="tool-call"):
    id: str
    name: str
    arguments: str


class _ToolResultBlock(_Shape, tag_field="type", tag="tool-result"):
    toolCallId: str
    content: list[_Block]
    isError: bool | UnsetType = UNSET


_Block: TypeAlias = _TextBlock | _ReasoningBlock | _ToolCallBlock | _ToolResultBlock


class _ToolFilter(_Shape):
    allow: list[str] | UnsetType = UNSET
    deny: list[str] | UnsetType = UNSET


class _Metadata(_Shape):
    promptBlocks: _Count
    promptBytes: _Count
    hasOutputSchema: bool
    hasPersona: bool
    label: str | UnsetType = UNSET
    maxDepth: _Count | UnsetType = UNSET
    childProvider: str | UnsetType = UNSET
    childModel: str | UnsetType = UNSET
    toolFilter: _ToolFilter | UnsetType = UNSET


class _RequestValue(_Shape):
    prompt: list[_Block]
    label: str | UnsetType = UNSET
    maxDepth: _Count | UnsetType = UNSET
    toolFilter: _ToolFilter | UnsetType = UNSET
    persona: str | UnsetType = UNSET


class _MetadataRequest(_Shape, tag_field="storage", tag="metadata"):
    metadata: _Metadata


class _FullRequest(_Shape, tag_field="storage", tag="full"):
    value: _RequestValue
    redactions: _Count


class _Timing(_Shape):
    startedAt: _Text
    startLatencyMs: _Milliseconds
    durationMs: _Milliseconds
    signalAbortedAtMs: _Milliseconds | UnsetType = UNSET
    disposeCalledAtMs: _Milliseconds | UnsetType = UNSET


class _Error(_Shape):
    name: _Text
    message: str
    code: str | UnsetType = UNSET


class _Result(_Shape):
    output: list[_Block]
    stopReason: str


class _StartError(_Shape, tag_field="kind", tag="start-error"):
    error: _Error


class _ResultError(_Shape, tag_field="kind", tag="result-error"):
    error: _Error


class _ResultOutcome(_Shape, tag_field="kind", tag="result"):
    result: _Result
    redactions: _Count


class _Interaction(_Shape, tag_field="kind", tag="cassette/interaction"):
    sequence: _Positive
    callKey: _Text
    parentKey: _Text
    parentContextFingerprint: _Digest
    occurrence: _Positive
    requestFingerprint: _Digest
    request: _MetadataRequest | _FullRequest
    timing: _Timing
    published: bool
    local: bool
    outcome: _ResultOutcome | _StartError | _ResultError
    previousHash: _Digest
    hash: _Digest


_decode = msgspec.json.Decoder(_Interaction).decode
_encode = msgspec.json.Encoder(order="sorted").encode


def usual_interaction(line: bytes, number: int) -> Interaction | None:
    """The facts of canonical ``line``, the hash compared with nothing yet; None when it is not usual."""
    try:
        record = _decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    if not (_encode(record) == line and _has_digests(record) and _has_usual_timing(record.timing)):
        return None
    outcome = _encode(record.outcome)
    facts = Interaction(
        line=number,
        sequence=record.sequence,
        call_key=record.callKey,
        parent_key=record.parentKey,
        parent_context_fingerprint=record.parentContextFingerprint,
        request_fingerprint=record.requestFingerprint,
        occurrence=record.occurrence,
        started_at=record.timing.startedAt,
        start_latency_ms=float(record.timing.startLatencyMs),
        duration_ms=float(record.timing.durationMs),
        published=record.published,
        is_local=record.local,
        outcome_fingerprint="sha256:" + sha256(outcome).hexdigest(),
        previous_sha256=record.previousHash,
        stated_sha256=record.hash,
        computed_sha256=_hash_of_rest(line, record.hash),
    )
    _add_request(facts, record.request)
    _add_outcome(facts, record.outcome)
    is_start_error = facts.outcome_kind == "start-error"
    if record.published is is_start_error or (record.local and not record.published):
        return None
    return facts


def _has_digests(record: _Interaction) -> bool:
    stated = (record.hash, record.previousHash, record.requestFingerprint, record.parentContextFingerprint)
    if not all(map(_begins_like_digest, stated)):
        return False
    digits = "".join([digest[7:] for digest in stated])
    try:
        return bytes.fromhex(digits).hex() == digits
    except ValueError:
        return False


_begins_like_digest = methodcaller("startswith", "sha256:")


def _has_usual_timing(timing: _Timing) -> bool:
    """Whether all times are spelled alike by msgspec and JavaScript, and the call ends after it began."""
    times = (timing.startLatencyMs, timing.durationMs, timing.signalAbortedAtMs, timing.disposeCalledAtMs)
    for time in times:
        if type(time) is float and (not 1e-4 <= time < 1e15 or time.is_integer()):
            return False
    return timing.startLatencyMs <= timing.durationMs


def _hash_of_rest(line: bytes, stated: str) -> str:
    """The digest of a canonical line without its hash member.

    Only the call key stands before that member, and no quote stands unescaped inside a string, so the
    first such text is the member itself.
    """
    head, _, tail = line.partition(b',"hash":"' + stated.encode() + b'"')
    rest = sha256(head)
    rest.update(tail)
    return "sha256:" + rest.hexdigest()


def _add_request(facts: Interaction, request: _MetadataRequest | _FullRequest) -> None:
    if isinstance(request, _MetadataRequest):
        facts.request_storage = "metadata"
        label = request.metadata.label
        facts.prompt_blocks = request.metadata.promptBlocks
        facts.prompt_bytes = request.metadata.promptBytes
    else:
        facts.request_storage = "full"
        label = request.value.label
        facts.prompt_blocks = len(request.value.prompt)
        facts.prompt_bytes = len(_encode(request.value.prompt))
    facts.label = None if label is UNSET else label


def _add_outcome(facts: Interaction, outcome: _ResultOutcome | _StartError | _ResultError) -> None:
    if isinstance(outcome, _ResultOutcome):
        facts.outcome_kind = "result"
        reason = outcome.result.stopReason
        facts.stop_reason = reason if reason in STOP_REASONS else "other"
        facts.redactions = outcome.redactions
    else:
        facts.outcome_kind = "start-error" if isinstance(outcome, _StartError) else "result-error"
        facts.error_name = outcome.error.name
        facts.error_code = None if outcome.error.code is UNSET else outcome.error.code
