"""The field checks of cassette records, in the original's order and with its messages.

The rule: every failed check becomes a fault, and the first fault that a record gives is the one the
original stops at. What passed its check is handed back as a fact.

Checks that need other lines (chain, sequence, call keys, occurrences, storage) are not made here.

Source: spec/cassette.md sections 3, 4 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dsh_lake.canonical import MAX_SAFE_INTEGER, JsonValue, canonical_text, number_text
from dsh_lake.errors import CanonicalError
from dsh_lake.records.cassette_dates import is_date
from dsh_lake.records.cassette_facts import CHECK_RANKS, STOP_REASONS, Fault, Header, Interaction

FORMAT = "dsh-subagent-cassette"
TARGET = "0.1.0-rc.7"
CAPABILITIES = ("outputSchema", "depthLimit", "toolFilter", "persona")

Object = dict[str, JsonValue]

_HEADER = frozenset(
    {"kind", "format", "version", "cassetteId", "createdAt", "target", "provider", "requestStorage"}
    | {"redactSecrets", "redactionPatterns", "hash"}
)
_PROVIDER = frozenset({"cassette", "upstream", "capabilities", "inheritsParentContext"})
_INTERACTION = frozenset(
    {"kind", "sequence", "callKey", "parentKey", "parentContextFingerprint", "occurrence"}
    | {"requestFingerprint", "request", "timing", "published", "local", "outcome", "previousHash", "hash"}
)
_METADATA = frozenset(
    {"label", "promptBlocks", "promptBytes", "hasOutputSchema", "hasPersona", "maxDepth", "toolFilter"}
    | {"childProvider", "childModel"}
)
_REQUEST_VALUE = frozenset(
    {"label", "prompt", "agentOptions", "outputSchema", "maxDepth", "toolFilter", "persona"}
)
_TIMING = frozenset({"startedAt", "startLatencyMs", "durationMs", "signalAbortedAtMs", "disposeCalledAtMs"})

is_digest = re.compile(r"sha256:[0-9a-f]{64}").fullmatch


class Faults:
    """The faults of one record, in the order of the original's checks."""

    def __init__(self, line: int, subject: str | None = None) -> None:
        self.line = line
        self.subject = subject or ("header" if line == 1 else f"line {line}")
        self.found: list[Fault] = []

    def add(self, check: int, code: str, message: str) -> None:
        """Note that check number ``check`` failed, with the whole message."""
        after_last = self.found[-1].rank + 1 if self.found else 0
        self.found.append(Fault(self.line, max(check * CHECK_RANKS, after_last), code, message))

    def add_unspeakable(self, check: int) -> None:
        """Note that the original's message cannot be built, because a value has no string form."""
        self.add(check, "not-convertible", "Cannot convert object to primitive value")


class Members:
    """The members of one object while they are checked; ``path`` is what follows the subject."""

    __slots__ = ("check", "faults", "path", "value")

    def __init__(self, value: Object, path: str, check: int, faults: Faults) -> None:
        self.value = value
        self.path = path
        self.check = check
        self.faults = faults

    def refuse(self, name: str, requirement: str, code: str = "bad-field") -> None:
        self.faults.add(self.check, code, f"{self.faults.subject}{self.path}.{name} {requirement}")

    def known(self, names: frozenset[str]) -> None:
        if not self.value.keys() <= names:
            for name in in_property_order(self.value.keys() - names, self.value):
                self.refuse(name, "is not supported", "unknown-member")

    def text(self, name: str) -> str | None:
        value = self.value.get(name)
        if isinstance(value, str) and value:
            return value
        self.refuse(name, "must be a non-empty string")
        return None

    def any_text(self, name: str, requirement: str) -> str | None:
        value = self.value.get(name)
        if isinstance(value, str):
            return value
        self.refuse(name, requirement)
        return None

    def optional_text(self, name: str) -> str | None:
        return self.any_text(name, "must be a string when present") if name in self.value else None

    def count(self, name: str) -> int | None:
        return self._integer(name, 0, "must be a non-negative safe integer")

    def positive(self, name: str) -> int | None:
        return self._integer(name, 1, "must be a positive safe integer")

    def optional_count(self, name: str) -> int | None:
        return self.count(name) if name in self.value else None

    def _integer(self, name: str, least: int, requirement: str) -> int | None:
        number = safe_integer(self.value.get(name), least)
        if number is None:
            self.refuse(name, requirement)
        return number

    def milliseconds(self, name: str) -> float | None:
        value = self.value.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf"):
            return float(value)
        self.refuse(name, "must be a non-negative finite number")
        return None

    def flag(self, name: str) -> bool | None:
        value = self.value.get(name)
        if isinstance(value, bool):
            return value
        self.refuse(name, "must be a boolean")
        return None

    def digest(self, name: str) -> str | None:
        value = self.value.get(name)
        if isinstance(value, str) and is_digest(value):
            return value
        self.refuse(name, "must be a lowercase SHA-256 digest")
        return None

    def optional_object(self, name: str) -> None:
        if name in self.value and not isinstance(self.value[name], dict):
            self.refuse(name, "must be an object when present")

    def object(self, name: str) -> Members | None:
        value = self.value.get(name)
        if isinstance(value, dict):
            return Members(value, f"{self.path}.{name}", self.check, self.faults)
        self.refuse(name, "must be an object")
        return None


def safe_integer(value: JsonValue, least: int) -> int | None:
    """``value`` as an integer of at least ``least`` that doubles hold exactly, else None."""
    if type(value) is int or (isinstance(value, float) and value.is_integer()):
        number = int(value)
        if least <= number <= MAX_SAFE_INTEGER:
            return number
    return None


def in_property_order(names: Iterable[str], mapping: Object) -> list[str]:
    """``names`` of ``mapping`` as JavaScript enumerates them: array indices first, then text order."""
    chosen = set(names)
    indices = sorted(int(name) for name in chosen if _is_array_index(name))
    return [str(index) for index in indices] + [
        name for name in mapping if name in chosen and not _is_array_index(name)
    ]


_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}").fullmatch


def _is_array_index(name: str) -> bool:
    return _ARRAY_INDEX(name) is not None and int(name) <= 2**32 - 2


def js_string(value: JsonValue) -> str | None:
    """``String(value)`` of JavaScript for a parsed value; None where JavaScript throws a TypeError.

    It throws for an object with a member of its own named ``toString``, also inside arrays.
    """
    if not isinstance(value, list):
        return _js_string_of_leaf(value)
    out: list[str] = []
    pending: list[JsonValue] = [value]
    while pending:
        element = pending.pop()
        if isinstance(element, list) and element:
            pending.extend(reversed(element))
            continue
        text = "" if element is None or isinstance(element, list) else _js_string_of_leaf(element)
        if text is None:
            return None
        out.append(text)
    return ",".join(out)


def _js_string_of_leaf(value: JsonValue) -> str | None:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number_text(value)
    return None if "toString" in value else "[object Object]"


# --- the header ----------------------------------------------------------------------------------


def check_header(value: JsonValue, faults: Faults) -> Header | None:
    """The facts of line 1, without digests computed; None when the line is no header at all."""
    if not isinstance(value, dict):
        faults.add(1, "wrong-kind", "line 1 must be a cassette header object")
        return None
    if value.get("kind") != "cassette/header":
        faults.add(2, "wrong-kind", "line 1 is not a cassette header")
        return None
    top = Members(value, "", 3, faults)
    top.known(_HEADER)
    _check_versions(value, faults)
    top.check = 6
    header = Header(cassette_id=top.text("cassetteId"), created_at=top.text("createdAt"))
    top.check = 7
    if header.created_at is not None and not is_date(header.created_at):
        top.refuse("createdAt", "must be an ISO timestamp")
    header.target = _check_target(value.get("target"), faults)
    top.check = 10
    if provider := top.object("provider"):
        _check_provider(provider, header)
    _check_policy(top, header)
    top.check = 17
    header.stated_sha256 = top.digest("hash")
    return header


def _check_versions(value: Object, faults: Faults) -> None:
    if value.get("format") != FORMAT:
        text = _js_string_of_member(value, "format")
        _add_unless_none(faults, 4, "unsupported-format", 'unsupported cassette format "{}"', text)
    version = value.get("version")
    if isinstance(version, bool) or version != 1:
        text = _js_string_of_member(value, "version")
        _add_unless_none(faults, 5, "unsupported-version", "unsupported cassette schema version {}", text)


def _js_string_of_member(value: Object, name: str) -> str | None:
    return js_string(value[name]) if name in value else "undefined"


def _add_unless_none(faults: Faults, check: int, code: str, template: str, text: str | None) -> None:
    if text is None:
        faults.add_unspeakable(check)
    else:
        faults.add(check, code, template.format(text))


def _check_target(target: JsonValue, faults: Faults) -> str | None:
    stated = target.get("dshSubagent") if isinstance(target, dict) else None
    if stated != TARGET:
        text = _js_string_of_member(target, "dshSubagent") if isinstance(target, dict) else "undefined"
        template = f"cassette targets @deepseek-ai/dsh-subagent {{}}, expected {TARGET}"
        _add_unless_none(faults, 8, "unsupported-target", template, text)
    if isinstance(target, dict):
        Members(target, ".target", 9, faults).known(frozenset({"dshSubagent"}))
    return stated if isinstance(stated, str) else None


def _check_provider(provider: Members, header: Header) -> None:
    provider.known(_PROVIDER)
    provider.check = 11
    header.provider_cassette = provider.text("cassette")
    header.provider_upstream = provider.text("upstream")
    provider.check = 12
    if capabilities := provider.object("capabilities"):
        capabilities.known(frozenset(CAPABILITIES))
        for name in CAPABILITIES:
            capabilities.flag(name)
        header.capabilities = _canonical_or_none(capabilities.value)
    provider.check = 13
    header.inherits_parent_context = provider.flag("inheritsParentContext")


def _check_policy(top: Members, header: Header) -> None:
    top.check = 14
    storage = top.value.get("requestStorage")
    if storage == "metadata" or storage == "full":
        header.request_storage = storage
    else:
        top.refuse("requestStorage", 'must be "metadata" or "full"')
    top.check = 15
    header.redact_secrets = top.flag("redactSecrets")
    top.check = 16
    patterns = top.value.get("redactionPatterns")
    if isinstance(patterns, list) and all(isinstance(pattern, str) for pattern in patterns):
        header.redaction_patterns = canonical_text(patterns)
    else:
        top.refuse("redactionPatterns", "must be an array of strings")


def _canonical_or_none(value: JsonValue) -> str | None:
    try:
        return canonical_text(value)
    except CanonicalError:
        return None


# --- interactions --------------------------------------------------------------------------------


def check_interaction(value: JsonValue, faults: Faults) -> Interaction | None:
    """The facts of a later line, without digests computed; None when it is no interaction at all."""
    if not isinstance(value, dict) or value.get("kind") != "cassette/interaction":
        faults.add(1, "wrong-kind", f"{faults.subject} is not a cassette interaction")
        return None
    top = Members(value, "", 2, faults)
    top.known(_INTERACTION)
    top.check = 3
    facts = Interaction(
        line=faults.line,
        sequence=top.positive("sequence"),
        call_key=top.text("callKey"),
        parent_key=top.text("parentKey"),
        parent_context_fingerprint=top.digest("parentContextFingerprint"),
        occurrence=top.positive("occurrence"),
        request_fingerprint=top.digest("requestFingerprint"),
    )
    top.check = 4
    if request := top.object("request"):
        _check_request(request, facts)
    top.check = 5
    if timing := top.object("timing"):
        _check_timing(timing, facts)
    _check_flags(value, facts, faults)
    top.check = 7
    if outcome := top.object("outcome"):
        _check_outcome(outcome, facts)
    _check_publication(facts, faults)
    top.check = 11
    facts.previous_sha256 = top.digest("previousHash")
    facts.stated_sha256 = top.digest("hash")
    return facts


def _check_request(request: Members, facts: Interaction) -> None:
    storage = request.value.get("storage")
    if storage == "metadata":
        facts.request_storage = storage
        request.known(frozenset({"storage", "metadata"}))
        if metadata := request.object("metadata"):
            _check_metadata(metadata, facts)
    elif storage == "full":
        facts.request_storage = storage
        request.known(frozenset({"storage", "value", "redactions"}))
        if value := request.object("value"):
            _check_request_value(value, facts)
        request.count("redactions")
    else:
        request.refuse("storage", 'must be "metadata" or "full"')


def _check_metadata(metadata: Members, facts: Interaction) -> None:
    metadata.known(_METADATA)
    facts.label = metadata.optional_text("label")
    facts.prompt_blocks = metadata.count("promptBlocks")
    facts.prompt_bytes = metadata.count("promptBytes")
    value = metadata.value
    if not isinstance(value.get("hasOutputSchema"), bool) or not isinstance(value.get("hasPersona"), bool):
        path = f"{metadata.faults.subject}{metadata.path}"
        message = f"{path}.hasOutputSchema and {path}.hasPersona must be booleans"
        metadata.faults.add(metadata.check, "bad-field", message)
    metadata.optional_count("maxDepth")
    metadata.optional_text("childProvider")
    metadata.optional_text("childModel")
    _check_tool_filter(metadata)


def _check_request_value(request: Members, facts: Interaction) -> None:
    request.known(_REQUEST_VALUE)
    prompt = request.value.get("prompt")
    check_blocks(prompt, f"{request.path}.prompt", request.check, request.faults)
    facts.prompt_blocks = len(prompt) if isinstance(prompt, list) else None
    facts.label = request.optional_text("label")
    request.optional_object("agentOptions")
    request.optional_object("outputSchema")
    request.optional_count("maxDepth")
    _check_tool_filter(request)
    request.optional_text("persona")


def _check_tool_filter(members: Members) -> None:
    if "toolFilter" not in members.value:
        return
    if tool_filter := members.object("toolFilter"):
        tool_filter.known(frozenset({"allow", "deny"}))
        for name in ("allow", "deny"):
            tools = tool_filter.value.get(name, [])
            if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
                tool_filter.refuse(name, "must be an array of strings when present")


def _check_timing(timing: Members, facts: Interaction) -> None:
    timing.known(_TIMING)
    facts.started_at = timing.text("startedAt")
    start = facts.start_latency_ms = timing.milliseconds("startLatencyMs")
    duration = facts.duration_ms = timing.milliseconds("durationMs")
    if start is not None and duration is not None and duration < start:
        timing.refuse("durationMs", "cannot be less than startLatencyMs")
    for name in ("signalAbortedAtMs", "disposeCalledAtMs"):
        if name in timing.value:
            timing.milliseconds(name)


def _check_flags(value: Object, facts: Interaction, faults: Faults) -> None:
    published, is_local = value.get("published"), value.get("local")
    facts.published = published if isinstance(published, bool) else None
    facts.is_local = is_local if isinstance(is_local, bool) else None
    if facts.published is None or facts.is_local is None:
        message = f"{faults.subject}.published and {faults.subject}.local must be booleans"
        faults.add(6, "bad-field", message)


def _check_publication(facts: Interaction, faults: Faults) -> None:
    if facts.outcome_kind == "start-error" and facts.published is True:
        faults.add(8, "bad-publication", f"{faults.subject} start-error must be unpublished")
    if facts.outcome_kind in ("result", "result-error") and facts.published is False:
        faults.add(9, "bad-publication", f"{faults.subject} post-publication outcome must be published")
    if facts.is_local is True and facts.published is False:
        faults.add(10, "bad-locality", f"{faults.subject} an unpublished interaction cannot be local")


def _check_outcome(outcome: Members, facts: Interaction) -> None:
    kind = outcome.value.get("kind")
    if kind == "result":
        facts.outcome_kind = kind
        outcome.known(frozenset({"kind", "result", "redactions"}))
        facts.redactions = outcome.count("redactions")
        _check_result(outcome, facts)
    elif kind == "start-error" or kind == "result-error":
        facts.outcome_kind = kind
        outcome.known(frozenset({"kind", "error"}))
        if error := outcome.object("error"):
            error.known(frozenset({"name", "message", "code"}))
            facts.error_name = error.text("name")
            error.any_text("message", "must be a string")
            facts.error_code = error.optional_text("code")
    else:
        outcome.refuse("kind", "is unsupported")


def _check_result(outcome: Members, facts: Interaction) -> None:
    result = outcome.value.get("result")
    output = result.get("output") if isinstance(result, dict) else None
    reason = result.get("stopReason") if isinstance(result, dict) else None
    if not isinstance(output, list) or not isinstance(reason, str):
        outcome.refuse("result", "must contain output[] and stopReason")
        return
    facts.stop_reason = reason if reason in STOP_REASONS else "other"
    check_blocks(output, f"{outcome.path}.result.output", outcome.check, outcome.faults)


# --- content blocks ------------------------------------------------------------------------------


def check_blocks(blocks: JsonValue, path: str, check: int, faults: Faults) -> None:
    """Check a list of content blocks and, below tool results, the lists in it; the newest list first."""
    if not isinstance(blocks, list):
        faults.add(check, "bad-field", f"{faults.subject}{path} must be an array")
        return
    levels = [(blocks, 0)]
    while levels:
        siblings, depth = levels.pop()
        for index, block in enumerate(siblings):
            for requirement in _unmet_by_block(block):
                if requirement is None:
                    faults.add_unspeakable(check)
                else:
                    place = f"[{index}]" if not depth else f" nested content at depth {depth}, index {index}"
                    faults.add(check, "bad-block", f"{faults.subject}{path}{place}{requirement}")
            if isinstance(block, dict) and block.get("type") == "tool-result":
                content = block.get("content")
                if isinstance(content, list):
                    levels.append((content, depth + 1))


_Unmet = Iterable[str | None]
"""What a block lacks, as the text after its name; None where the original cannot build its message."""


def _unmet_by_block(block: JsonValue) -> _Unmet:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(kind, str) or not kind:
        return (" must be a typed content block",)
    return _BLOCKS[kind](block) if kind in _BLOCKS else ()


def _unmet_by_text(block: Object) -> _Unmet:
    return () if isinstance(block.get("text"), str) else (".text must be a string",)


def _unmet_by_tool_call(block: Object) -> _Unmet:
    names = ("id", "name", "arguments")
    return [f".{name} must be a string" for name in names if not isinstance(block.get(name), str)]


def _unmet_by_tool_result(block: Object) -> _Unmet:
    if not isinstance(block.get("toolCallId"), str):
        yield ".toolCallId must be a string"
    if not isinstance(block.get("content"), list):
        yield ".content must be an array"
    if not isinstance(block.get("isError", False), bool):
        yield ".isError must be a boolean when present"


_MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})


def _unmet_by_image(block: Object) -> _Unmet:
    value = block.get("attachment")
    if not isinstance(value, dict):
        yield ".attachment must be an object"
        return
    if not isinstance(value.get("attachmentId"), str) or not value["attachmentId"]:
        yield ".attachment.attachmentId must be a non-empty string"
    media_type = _js_string_of_member(value, "mediaType")
    if media_type is None:
        yield None
    elif media_type not in _MEDIA_TYPES:
        yield ".attachment.mediaType is unsupported"
    for name, least, requirement in (
        ("bytes", 0, "a non-negative safe integer"),
        ("width", 1, "a positive safe integer"),
        ("height", 1, "a positive safe integer"),
    ):
        if safe_integer(value.get(name), least) is None:
            yield f".attachment.{name} must be {requirement}"
    if not isinstance(value.get("name", ""), str):
        yield ".attachment.name must be a string when present"


_BLOCKS: dict[str, Callable[[Object], _Unmet]] = {
    "text": _unmet_by_text,
    "reasoning": _unmet_by_text,
    "image": _unmet_by_image,
    "tool-call": _unmet_by_tool_call,
    "tool-result": _unmet_by_tool_result,
}
