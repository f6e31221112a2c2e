"""What changed between two cassettes, call by call.

The rule: calls are aligned by identity (parent key, parent context, request, occurrence) and by nothing
else: not by line, sequence, call key, hash or header. Timing is reported and never counts.

Source: spec/cassette.md sections 8 (output) and 9 (diff).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter

import msgspec

from dsh_lake.canonical import utf16_units
from dsh_lake.cassette.across import AcrossLines
from dsh_lake.cassette.loading import verified_lines
from dsh_lake.cassette.terminal import json_document, one_decimal, printed_lines
from dsh_lake.records.cassette_facts import Header, Interaction

_POLICIES = {
    "provider.cassette": attrgetter("provider_cassette"),
    "provider.upstream": attrgetter("provider_upstream"),
    "provider.capabilities": attrgetter("capabilities"),
    "provider.inheritsParentContext": attrgetter("inherits_parent_context"),
    "requestStorage": attrgetter("request_storage"),
    "redactSecrets": attrgetter("redact_secrets"),
    "redactionPatterns": attrgetter("redaction_patterns"),
}
"""Header members that a comparison and an append look at, in the original's order."""


def policy_differences(expected: Header, actual: Header) -> list[str]:
    """The names of the recording policies in which two headers differ, in the original's order."""
    return [name for name, policy in _POLICIES.items() if policy(expected) != policy(actual)]


class ComparedCall(msgspec.Struct, gc=False, frozen=True):
    """What a comparison needs of an interaction; the first four fields are its identity."""

    parent_key: str
    parent_context_fingerprint: str
    request_fingerprint: str
    occurrence: int
    call_key: str
    outcome_kind: str
    stop_reason: str | None
    outcome_fingerprint: str
    published: bool
    is_local: bool
    start_latency_ms: float
    duration_ms: float

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """What the call is aligned by."""
        fingerprints = self.parent_context_fingerprint, self.request_fingerprint
        return self.parent_key, *fingerprints, self.occurrence

    @property
    def end(self) -> str:
        """How it ended: the stop reason's category, or the kind of error."""
        return self.stop_reason or self.outcome_kind


class Side(msgspec.Struct):
    """One verified cassette of a comparison, calls sorted by identity, texts by UTF-16 units."""

    header: Header
    calls: list[ComparedCall]
    ambiguous_groups: int


Pair = tuple[ComparedCall, ComparedCall]


class Comparison(msgspec.Struct):
    """The difference between two cassettes; all lists in the order of ``Side.calls``.

    ``pairs`` are all aligned calls, also unchanged ones. ``is_comparable`` is false when a side has
    ambiguous groups or the meaning of the parent context changed; the lists are filled in all the same.
    """

    expected: Side
    actual: Side
    policy_changes: list[str]
    issues: list[str]
    added: list[ComparedCall]
    removed: list[ComparedCall]
    pairs: list[Pair]

    @property
    def is_comparable(self) -> bool:
        return not self.issues

    @property
    def is_equivalent(self) -> bool:
        """Whether nothing differs that counts."""
        is_same = not (self.policy_changes or self.added or self.removed)
        return self.is_comparable and is_same and not any(map(_has_changed, self.pairs))

    def outcome_changed(self) -> list[Pair]:
        """The pairs whose outcomes differ in anything, redactions and extension members included."""
        return [pair for pair in self.pairs if _has_other_outcome(pair)]

    def boundary_changed(self) -> list[tuple[Pair, list[str]]]:
        """The pairs whose publication or locality differ, with the names of what differs."""
        return [(pair, fields) for pair in self.pairs if (fields := _boundary_fields(pair))]

    def text(self, expected_path: str, actual_path: str, *, with_calls: bool = False) -> str:
        """What ``diff`` prints; the paths as they were given."""
        outcomes, boundaries = self.outcome_changed(), self.boundary_changed()
        retimed = [pair for pair in self.pairs if any(_deltas(pair))]
        lines = [
            f"Expected: {expected_path}",
            f"Actual: {actual_path}",
            f"Comparable / equivalent: {_yes(self.is_comparable)} / {_yes(self.is_equivalent)}",
            f"Interactions: {len(self.expected.calls)} -> {len(self.actual.calls)}",
            f"Added / removed / outcome / boundary: {len(self.added)} / {len(self.removed)}"
            f" / {len(outcomes)} / {len(boundaries)}",
            f"Policy changes: {', '.join(self.policy_changes) or 'none'}",
            f"Comparison issues: {', '.join(self.issues) or 'none'}",
            f"Timing changes (informational): {len(retimed)}",
        ]
        if with_calls:
            lines += [f"+ {call.call_key}  {call.end}" for call in self.added]
            lines += [f"- {call.call_key}  {call.end}" for call in self.removed]
            lines += [f"~ {old.call_key}  outcome {old.end} -> {new.end}" for old, new in outcomes]
            lines += [f"~ {old.call_key}  boundary {', '.join(names)}" for (old, _), names in boundaries]
            lines += map(_timing_line, retimed)
        return printed_lines(lines)

    def document(self) -> Iterator[str]:
        """What ``diff --json`` prints, in pieces; one element of a list in memory at a time."""
        yield from json_document(
            {
                "schemaVersion": 1,
                "comparable": self.is_comparable,
                "equivalent": self.is_equivalent,
                "expectedInteractions": len(self.expected.calls),
                "actualInteractions": len(self.actual.calls),
                "policyChanges": self.policy_changes,
                "issues": self.issues,
                "expectedAmbiguousGroups": self.expected.ambiguous_groups,
                "actualAmbiguousGroups": self.actual.ambiguous_groups,
                "added": map(_call_document, self.added),
                "removed": map(_call_document, self.removed),
                "outcomeChanged": map(_pair_document, self.outcome_changed()),
                "boundaryChanged": (
                    {**_pair_document(pair), "fields": fields} for pair, fields in self.boundary_changed()
                ),
                "timing": map(_timing_document, self.pairs),
            }
        )
        yield "\n"


def compare_files(expected: str | os.PathLike[str], actual: str | os.PathLike[str]) -> Comparison:
    """The difference between two cassette files, both verified; memory about 600 bytes an interaction.

    Raises:
        CassetteFormatError, CassetteTypeError: the first fault of the first file that has one.
    """
    return compare(read_side(expected), read_side(actual))


def compare(expected: Side, actual: Side) -> Comparison:
    """The difference between two cassettes."""
    remaining = {call.identity: call for call in actual.calls}
    removed: list[ComparedCall] = []
    pairs: list[Pair] = []
    for call in expected.calls:
        other = remaining.pop(call.identity, None)
        if other is None:
            removed.append(call)
        else:
            pairs.append((call, other))
    policy_changes = policy_differences(expected.header, actual.header)
    has_issue = {
        "expected-ambiguous-duplicate-groups": expected.ambiguous_groups > 0,
        "actual-ambiguous-duplicate-groups": actual.ambiguous_groups > 0,
        "parent-context-semantics-changed": "provider.inheritsParentContext" in policy_changes,
    }
    issues = [name for name, is_one in has_issue.items() if is_one]
    return Comparison(expected, actual, policy_changes, issues, list(remaining.values()), removed, pairs)


def read_side(path: str | os.PathLike[str]) -> Side:
    """The cassette at ``path`` as one side of a comparison.

    Raises:
        CassetteFormatError, CassetteTypeError: the file's first fault.
    """
    across = AcrossLines()
    header = Header()
    calls: list[ComparedCall] = []
    shared: dict[str, str] = {}  # parents and contexts repeat: one string each
    for line in verified_lines(path, across):
        if isinstance(line.facts, Interaction):
            calls.append(_compared_call(line.facts, shared))
        elif line.facts is not None:
            header = line.facts
    calls.sort(key=_order_for(calls))
    return Side(header, calls, across.ambiguous_groups)


def _compared_call(facts: Interaction, shared: dict[str, str]) -> ComparedCall:
    parent, context = facts.parent_key or "", facts.parent_context_fingerprint or ""
    return ComparedCall(
        parent_key=shared.setdefault(parent, parent),
        parent_context_fingerprint=shared.setdefault(context, context),
        request_fingerprint=facts.request_fingerprint or "",
        occurrence=facts.occurrence or 0,
        call_key=facts.call_key or "",
        outcome_kind=facts.outcome_kind or "",
        stop_reason=facts.stop_reason,
        outcome_fingerprint=facts.outcome_fingerprint or "",
        published=bool(facts.published),
        is_local=bool(facts.is_local),
        start_latency_ms=facts.start_latency_ms or 0,
        duration_ms=facts.duration_ms or 0,
    )


def _order_for(calls: Iterable[ComparedCall]) -> Callable[[ComparedCall], tuple[bytes | str, str, str, int]]:
    """A sort key by identity: parent keys by UTF-16 units, which for ASCII is the order of ``str``."""
    if all(call.parent_key.isascii() for call in calls):
        return attrgetter("identity")
    return lambda call: (utf16_units(call.parent_key), *call.identity[1:])


def _has_other_outcome(pair: Pair) -> bool:
    return pair[0].outcome_fingerprint != pair[1].outcome_fingerprint


def _boundary_fields(pair: Pair) -> list[str]:
    old, new = pair
    differs = {"published": old.published is not new.published, "local": old.is_local is not new.is_local}
    return [name for name, is_different in differs.items() if is_different]


def _has_changed(pair: Pair) -> bool:
    return _has_other_outcome(pair) or bool(_boundary_fields(pair))


def _deltas(pair: Pair) -> tuple[float, float]:
    """Changes of start latency and duration in milliseconds, actual minus expected."""
    old, new = pair
    return new.start_latency_ms - old.start_latency_ms, new.duration_ms - old.duration_ms


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _signed(number: float) -> str:
    return f"{'+' if number >= 0 else ''}{one_decimal(number)}"


def _timing_line(pair: Pair) -> str:
    start, duration = map(_signed, _deltas(pair))
    return f"= {pair[0].call_key}  timing start {start}ms, duration {duration}ms"


def _identity_document(call: ComparedCall) -> dict[str, object]:
    return {
        "parentKey": call.parent_key,
        "parentContextFingerprint": call.parent_context_fingerprint,
        "requestFingerprint": call.request_fingerprint,
        "occurrence": call.occurrence,
    }


def _call_document(call: ComparedCall) -> dict[str, object]:
    stop_reason = {} if call.stop_reason is None else {"stopReason": call.stop_reason}
    return {
        **_identity_document(call),
        "callKey": call.call_key,
        "outcomeKind": call.outcome_kind,
        **stop_reason,
        "outcomeFingerprint": call.outcome_fingerprint,
        "published": call.published,
        "local": call.is_local,
        "durationMs": call.duration_ms,
    }


def _pair_document(pair: Pair) -> dict[str, object]:
    return {"expected": _call_document(pair[0]), "actual": _call_document(pair[1])}


def _timing_document(pair: Pair) -> dict[str, object]:
    old, new = pair
    start_delta, duration_delta = _deltas(pair)
    return {
        **_identity_document(old),
        "expectedCallKey": old.call_key,
        "actualCallKey": new.call_key,
        "expectedStartLatencyMs": old.start_latency_ms,
        "actualStartLatencyMs": new.start_latency_ms,
        "startLatencyDeltaMs": start_delta,
        "expectedDurationMs": old.duration_ms,
        "actualDurationMs": new.duration_ms,
        "deltaMs": duration_delta,
    }
