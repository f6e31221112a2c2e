"""Which recorded call answers a live one, and why none does.

The rule: a call is answered by the lowest unconsumed occurrence of exactly its group, never by a similar
one; a mismatch says which recorded calls came near.

Source: spec/cassette.md section 11.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dsh_lake.canonical import JsonValue, string_text
from dsh_lake.cassette.groups import Group, ambiguous_groups, group_of
from dsh_lake.cassette.identity import JsonObject, request_metadata
from dsh_lake.cassette.loading import Cassette
from dsh_lake.errors import CassetteAmbiguityError, CassetteError, CassetteMismatchError
from dsh_lake.records.cassette_facts import Interaction


@dataclass(frozen=True, slots=True)
class ActualCall:
    """A live call, as far as matching looks at it."""

    parent_key: str
    parent_context_fingerprint: str
    request_fingerprint: str
    request_metadata: JsonObject = field(default_factory=dict)

    @property
    def group(self) -> Group:
        return Group(self.parent_key, self.parent_context_fingerprint, self.request_fingerprint)

    def document(self) -> JsonObject:
        """The call as a diagnosis shows it."""
        return {
            "parentKey": self.parent_key,
            "parentContextFingerprint": self.parent_context_fingerprint,
            "requestFingerprint": self.request_fingerprint,
            "requestMetadata": self.request_metadata,
        }


class Matcher:
    """The recorded calls of one cassette, consumed one by one.

    Interactions are named by their index in the cassette.
    """

    def __init__(
        self, cassette: Cassette, *, duplicate_policy: str = "reject", allow_redacted: bool = False
    ) -> None:
        """Prepare to match; ``cassette`` must have been loaded with its records.

        Raises:
            CassetteAmbiguityError: policy ``reject`` and the cassette has ambiguous groups.
            CassetteMismatchError: a result is redacted and ``allow_redacted`` is not set.
            CassetteError: the policy is neither ``reject`` nor ``sequence`` (INVALID_CONFIG).
        """
        self._cassette = cassette
        self._consumed: set[int] = set()
        self._groups: dict[Group, list[int]] = {}
        for index, facts in enumerate(cassette.interactions):
            self._groups.setdefault(group_of(facts), []).append(index)
        for members in self._groups.values():
            members.sort(key=lambda index: cassette.interactions[index].occurrence or 0)
        _refuse_ambiguity(cassette.interactions, duplicate_policy)
        if not allow_redacted:
            _refuse_redacted(cassette.interactions)

    def match(self, actual: ActualCall) -> int:
        """Consume the interaction that answers ``actual``; its index.

        Raises:
            CassetteMismatchError: there is none; ``diagnosis`` is that of ``diagnose``.
        """
        index = self._answer(actual)
        if index is None:
            reason, candidates = self._mismatch(actual)
            message = self._message(actual, reason, candidates)
            raise CassetteMismatchError(message, self._mismatch_document(actual, reason, candidates))
        self._consumed.add(index)
        return index

    def diagnose(self, actual: ActualCall) -> JsonObject:
        """What ``match`` would do, as a document, without consuming anything."""
        index = self._answer(actual)
        if index is not None:
            return {"status": "match", "actual": actual.document(), "candidate": self._candidate(index)}
        return self._mismatch_document(actual, *self._mismatch(actual))

    def unconsumed(self) -> list[str]:
        """The call keys that nobody asked for, in file order."""
        return [
            facts.call_key or ""
            for index, facts in enumerate(self._cassette.interactions)
            if index not in self._consumed
        ]

    def assert_consumed(self) -> None:
        """Check that every recorded call was asked for.

        Raises:
            CassetteMismatchError: some were not.
        """
        if left := self.unconsumed():
            sample = ", ".join(left[:5])
            raise CassetteMismatchError(f"{len(left)} cassette interaction(s) were not consumed: {sample}")

    def _answer(self, actual: ActualCall) -> int | None:
        members = self._groups.get(actual.group, ())
        return next((index for index in members if index not in self._consumed), None)

    def _mismatch(self, actual: ActualCall) -> tuple[str, list[int]]:
        """The reason and the candidates by ascending sequence, consumed or not."""
        interactions = self._cassette.interactions
        ordered = sorted(range(len(interactions)), key=lambda index: interactions[index].sequence or 0)
        of_parent = [index for index in ordered if interactions[index].parent_key == actual.parent_key]
        same_request = [
            index
            for index in of_parent
            if interactions[index].request_fingerprint == actual.request_fingerprint
        ]
        same_context = [
            index
            for index in of_parent
            if interactions[index].parent_context_fingerprint == actual.parent_context_fingerprint
        ]
        if actual.group in self._groups:
            return "group-exhausted", [index for index in same_request if index in set(same_context)]
        if not of_parent:
            return "parent-not-found", ordered
        if same_request:
            return "parent-context-changed", same_request
        if same_context:
            return "request-changed", same_context
        return "parent-and-request-changed", of_parent

    def _candidate(self, index: int) -> JsonObject:
        facts = self._cassette.interactions[index]
        return {
            "sequence": facts.sequence,
            "callKey": facts.call_key,
            "parentKey": facts.parent_key,
            "parentContextFingerprint": facts.parent_context_fingerprint,
            "occurrence": facts.occurrence,
            "requestFingerprint": facts.request_fingerprint,
            "requestMetadata": recorded_metadata(self._cassette.records[index]),
            "consumed": index in self._consumed,
        }

    def _mismatch_document(self, actual: ActualCall, reason: str, candidates: Sequence[int]) -> JsonObject:
        return {
            "status": "mismatch",
            "reason": reason,
            "actual": actual.document(),
            "candidates": [self._candidate(index) for index in candidates],
        }

    def _message(self, actual: ActualCall, reason: str, candidates: Sequence[int]) -> str:
        label = actual.request_metadata.get("label")
        subject = f'parent "{actual.parent_key}", label '
        subject += string_text(label) if isinstance(label, str) else "<unlabelled>"
        sample = ", ".join(map(self._sample, candidates[:3])) or "none"
        if reason == "group-exhausted":
            return (
                f"cassette interaction group for {subject} has exhausted all {len(candidates)} "
                f"recorded occurrence(s); recorded calls: {sample}"
            )
        return (
            f"no cassette interaction matches {subject}, parent context {actual.parent_context_fingerprint}, "
            f"request {actual.request_fingerprint}; diagnosis: {reason}; candidate calls: {sample}"
        )

    def _sample(self, index: int) -> str:
        state = "consumed" if index in self._consumed else "available"
        return f"{self._cassette.interactions[index].call_key} ({state})"


def recorded_metadata(record: JsonObject) -> JsonObject:
    """The metadata view of a recorded request; of a full one, computed from its stored value."""
    request = record["request"]
    assert isinstance(request, dict)  # the record is verified
    view: JsonValue = request.get("metadata")
    if isinstance(view, dict):
        return view
    value = request["value"]
    assert isinstance(value, dict)
    return request_metadata(value)


def _refuse_ambiguity(interactions: Sequence[Interaction], duplicate_policy: str) -> None:
    if duplicate_policy not in ("reject", "sequence"):
        raise CassetteError('duplicatePolicy must be "reject" or "sequence"', "INVALID_CONFIG")
    if duplicate_policy == "reject" and (groups := ambiguous_groups(interactions)):
        raise CassetteAmbiguityError(
            f"cassette has {len(groups)} duplicate request group(s) with different outcomes; "
            'add stable labels/prompts or set duplicatePolicy to "sequence" explicitly'
        )


def _refuse_redacted(interactions: Sequence[Interaction]) -> None:
    for facts in interactions:
        if facts.redactions:
            raise CassetteMismatchError(
                f'interaction "{facts.call_key}" contains a redacted result; '
                "set allowRedactedReplay only if substituted output is acceptable"
            )
