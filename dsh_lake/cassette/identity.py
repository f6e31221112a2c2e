"""What makes a live call the same call as a recorded one: fingerprints, call keys, topology.

The rule: identity is taken from plain JSON, before any redaction, and from nothing that changes between
two runs of the same program (ids of sessions and messages, times).

Source: spec/cassette.md section 10.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dsh_lake.canonical import JsonValue, canonical_text, digest, parse_json
from dsh_lake.errors import CanonicalError, CassetteAmbiguityError, CassetteTypeError
from dsh_lake.records.cassette_checks import in_property_order

REQUEST_MEMBERS = (
    "label",
    "prompt",
    "agentOptions",
    "outputSchema",
    "maxDepth",
    "toolFilter",
    "persona",
)
_SESSION_MEMBERS = ("cwd", "origin", "delegationDepth", "agentPreset")

JsonObject = dict[str, JsonValue]


# --- plain JSON ----------------------------------------------------------------------------------


def plain_json(value: object) -> JsonValue:
    """A copy of a live value that shares nothing with it.

    Raises:
        CanonicalError: the value is cyclic, holds what is not JSON, or a number that a double cannot hold.
    """
    _refuse_cycles_and_long_integers(value)
    return parse_json(canonical_text(value))


def _refuse_cycles_and_long_integers(value: object) -> None:
    path: set[int] = set()
    pending: list[tuple[object, bool]] = [(value, False)]
    while pending:
        current, is_done = pending.pop()
        if isinstance(current, int) and not _is_double(current):
            raise CanonicalError("a number that a double holds", f"an integer of {current.bit_length()} bits")
        if not isinstance(current, (dict, list)):
            continue
        if is_done:
            path.remove(id(current))
            continue
        if id(current) in path:
            raise CanonicalError("a JSON value", "a value that contains itself")
        path.add(id(current))
        pending.append((current, True))
        children: Iterable[object] = current.values() if isinstance(current, dict) else current
        pending.extend((child, False) for child in children)


def _is_double(number: int) -> bool:
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


# --- requests ------------------------------------------------------------------------------------


def normalised_request(request: Mapping[str, object]) -> JsonObject:
    """The members of a live request that belong to its identity, as plain JSON; absent ones left out.

    Raises:
        CassetteTypeError: the tool filter is malformed or the request is no lossless plain JSON.
    """
    members = {name: request[name] for name in REQUEST_MEMBERS if name in request}
    if "toolFilter" in members:
        _check_tool_filter(members["toolFilter"])
    try:
        plain = plain_json(members)
    except CanonicalError as error:
        raise CassetteTypeError("subagent cassette request is not lossless plain JSON") from error
    if not isinstance(plain, dict) or not isinstance(plain.get("prompt"), list):
        raise CassetteTypeError("subagent cassette request is not lossless plain JSON")
    return plain


def _check_tool_filter(tool_filter: object) -> None:
    subject = "subagent cassette toolFilter"
    if not isinstance(tool_filter, dict):
        raise CassetteTypeError(f"{subject} must be an object")
    for name in in_property_order(tool_filter.keys() - {"allow", "deny"}, tool_filter):
        raise CassetteTypeError(f"{subject}.{name} is not supported")
    for name in ("allow", "deny"):
        tools = tool_filter.get(name, [])
        if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
            raise CassetteTypeError(f"{subject}.{name} must be an array of strings")


def request_metadata(request: JsonObject) -> JsonObject:
    """What a cassette keeps of a normalised request that is stored without content."""
    prompt = request.get("prompt")
    options = request.get("agentOptions")
    options = options if isinstance(options, dict) else {}
    metadata: dict[str, JsonValue] = {
        "label": request.get("label"),
        "promptBlocks": len(prompt) if isinstance(prompt, list) else 0,
        "promptBytes": len(canonical_text(prompt).encode()),
        "hasOutputSchema": "outputSchema" in request,
        "maxDepth": request.get("maxDepth"),
        "childProvider": _text_or_none(options.get("provider")),
        "childModel": _text_or_none(options.get("model")),
        "toolFilter": request.get("toolFilter"),
        "hasPersona": "persona" in request,
    }
    return {name: value for name, value in metadata.items() if value is not None or name in request}


def _text_or_none(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


# --- parents -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parent:
    """The live agent that starts a call. ``id`` only tells parents apart; it is no part of any identity.

    ``session`` may hold cwd, origin, delegationDepth and agentPreset; other members do not count.
    """

    id: str
    options: Mapping[str, object] = field(default_factory=dict)
    session: Mapping[str, object] = field(default_factory=dict)
    composition: Mapping[str, object] | None = None
    inherited_messages: Sequence[object] | None = None

    def context(self) -> JsonObject:
        """The normalised context that the child may depend on, as plain JSON; absent members left out."""
        context: dict[str, object] = {
            "options": dict(self.options),
            "session": {name: self.session[name] for name in _SESSION_MEMBERS if name in self.session},
        }
        if self.composition is not None:
            context["composition"] = dict(self.composition)
        if self.inherited_messages is not None:
            context["inheritedMessages"] = list(self.inherited_messages)
        plain = plain_json(context)
        assert isinstance(plain, dict)  # it was one
        return plain


def parent_context_fingerprint(context: JsonObject) -> str:
    """The digest of a normalised parent context."""
    return digest({"kind": "dsh-subagent/parent-context", "value": context})


def inherited_messages(log: Sequence[Mapping[str, object]]) -> list[JsonValue]:
    """The messages that a child inherits from its parent's log, in a form that two runs share.

    ``log`` is a list of session events, each with ``type`` and ``data``. Taken are the messages of the
    events before the last ``turn/end``, without their ids; ids of tool calls become ``call-1``, ``call-2``
    and so on in order of first occurrence. (The specification leaves the spelling of those numbers open.)

    Raises:
        CanonicalError: a message is no plain JSON.
    """
    ends = [position for position, event in enumerate(log) if event.get("type") == "turn/end"]
    prefix = log[: ends[-1] + 1] if ends else []
    messages = []
    for event in prefix:
        data = event.get("data")
        message = data.get("message") if isinstance(data, Mapping) else None
        if isinstance(message, Mapping):
            messages.append({name: value for name, value in message.items() if name != "id"})
    plain = plain_json(messages)
    assert isinstance(plain, list)  # it was one
    _renumber_tool_calls(plain)
    return plain


def _renumber_tool_calls(messages: list[JsonValue]) -> None:
    numbers: dict[str, str] = {}
    pending: list[JsonValue] = [messages]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict):
            names = ["toolCallId", "callId", *(["id"] if value.get("type") == "tool-call" else [])]
            for name in names:
                call_id = value.get(name)
                if isinstance(call_id, str):
                    value[name] = numbers.setdefault(call_id, f"call-{len(numbers) + 1}")
            pending.extend(value[name] for name in sorted(value, reverse=True))


# --- keys ----------------------------------------------------------------------------------------


def group_fingerprint(context_fingerprint: str, request_fingerprint: str) -> str:
    """The digest of the two fingerprints, of which a call key shows the beginning."""
    pair = {"parentContextFingerprint": context_fingerprint, "requestFingerprint": request_fingerprint}
    return digest(pair)


def call_key(
    parent_key: str, label: JsonValue, context_fingerprint: str, request_fingerprint: str, occurrence: int
) -> str:
    """The readable and unique name of a call: parent, label, 12 hex digits of its group, occurrence."""
    short = group_fingerprint(context_fingerprint, request_fingerprint)[7:19]
    return f"{parent_key}/{label_slug(label)}-{short}~{occurrence}"


def label_slug(label: JsonValue) -> str:
    """A label as it stands in a call key; the cut to 32 comes last and may leave a final ``-``."""
    lowered = label.lower() if isinstance(label, str) else ""
    slug = re.sub("[^a-z0-9]+", "-", lowered).removeprefix("-").removesuffix("-")
    return slug[:32] or "agent"


class Topology:
    """Which live agents are which parents: one root, and the local children this provider published."""

    ROOT = "root"

    def __init__(self) -> None:
        self._root_id: str | None = None
        self._children: dict[str, str] = {}

    def parent_key(self, parent: Parent) -> str:
        """The key of ``parent``; nothing is reserved by asking.

        Raises:
            CassetteAmbiguityError: a second root, or a sub-agent that this provider did not publish.
        """
        if parent.id in self._children:
            return self._children[parent.id]
        if parent.session.get("origin") == "subagent":
            raise CassetteAmbiguityError(
                f'subagent parent "{parent.id}" was not created through this cassette provider; '
                "its stable topology path is unavailable"
            )
        if self._root_id not in (None, parent.id):
            raise CassetteAmbiguityError(
                f'cassette observed more than one top-level parent ("{self._root_id}" and "{parent.id}"); '
                "record each root in a separate cassette"
            )
        return self.ROOT

    def claim(self, parent: Parent) -> str:
        """The key of ``parent``, which from now on is the root if it is no child.

        Raises:
            CassetteAmbiguityError: as ``parent_key``.
        """
        key = self.parent_key(parent)
        if parent.id not in self._children:
            self._root_id = parent.id
        return key

    def register_child(self, child_id: str, key: str) -> None:
        """Note that the call ``key`` published the local agent ``child_id``.

        Raises:
            CassetteAmbiguityError: the child is known under another call key.
        """
        known = self._children.setdefault(child_id, key)
        if known != key:
            raise CassetteAmbiguityError(
                f'subagent "{child_id}" was published by two calls ("{known}" and "{key}"); '
                "its stable topology path is unavailable"
            )
