"""The checks of a cassette that need more than one line, made as the lines pass by.

The rule: the order of lines is the file's; a check across lines stands at the later line. The same
checks exist as queries over rows; here they serve one file that is in no lake.

Source: spec/cassette.md section 4, checks 12 and 15 to 20, and section 7 (ambiguous groups).
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import msgspec

from dsh_lake.records.cassette import CassetteLine
from dsh_lake.records.cassette_facts import CHECK_RANKS, Fault, Header, Interaction


class _Group(msgspec.Struct, gc=False):
    """One group while its members pass. Most groups have a single member, of occurrence 1."""

    first_outcome: bytes
    is_ambiguous: bool = False
    occurrences: set[int] | None = None  # None: just {1}


class AcrossLines:
    """State of the checks across lines; memory: about 400 bytes an interaction."""

    def __init__(self) -> None:
        self.interactions = 0
        self.last_line = 0
        self._previous_hash: str | None = None
        self._storage: str | None = None
        self._sequences: set[int] = set()
        self._call_keys: set[str] = set()
        self._groups: dict[bytes, _Group] = {}

    @property
    def ambiguous_groups(self) -> int:
        """How many groups have members with different outcomes."""
        return sum(group.is_ambiguous for group in self._groups.values())

    def add(self, line: CassetteLine) -> list[Fault]:
        """The faults of ``line`` that earlier lines cause."""
        facts = line.facts
        self.last_line = line.line
        faults = list(self._faults_of(facts)) if isinstance(facts, Interaction) else []
        if isinstance(facts, Header):
            self._storage = facts.request_storage
        self._previous_hash = None if facts is None else facts.stated_sha256
        return faults

    def _faults_of(self, facts: Interaction) -> Iterator[Fault]:
        self.interactions += 1
        line, storage = facts.line, self._storage
        if self._previous_hash and facts.previous_sha256 not in (None, self._previous_hash):
            message = f"line {line} hash chain points to the wrong previous record"
            yield _fault(line, 12, "chain-break", message)
        if storage and facts.request_storage not in (None, storage):
            message = f'line {line}.request.storage must match header.requestStorage "{storage}"'
            yield _fault(line, 15, "storage-disagrees", message)
        if facts.sequence is not None and _is_repeated(facts.sequence, self._sequences):
            message = f"line {line} duplicates sequence {facts.sequence}"
            yield _fault(line, 16, "duplicate-sequence", message)
        if facts.call_key is not None and _is_repeated(facts.call_key, self._call_keys):
            yield _fault(
                line, 17, "duplicate-call-key", f'line {line} duplicates call key "{facts.call_key}"'
            )
        if self._joins_group_twice(facts):
            message = (
                f"line {line} duplicates occurrence {facts.occurrence} for one parent-context/request group"
            )
            yield _fault(line, 18, "duplicate-occurrence", message)

    def _joins_group_twice(self, facts: Interaction) -> bool:
        """Put an interaction into its group; whether the group had its occurrence already."""
        parent, context, request = (
            facts.parent_key,
            facts.parent_context_fingerprint,
            facts.request_fingerprint,
        )
        if parent is None or context is None or request is None or facts.occurrence is None:
            return False
        name = f"{context}{request}{parent}".encode("utf-8", "surrogatepass")
        key = blake2b(name, digest_size=16).digest()
        outcome = bytes.fromhex((facts.outcome_fingerprint or "")[7:])
        group = self._groups.get(key)
        if group is None:
            occurrences = None if facts.occurrence == 1 else {facts.occurrence}
            self._groups[key] = _Group(outcome, False, occurrences)
            return False
        group.is_ambiguous = group.is_ambiguous or group.first_outcome != outcome
        if group.occurrences is None:
            group.occurrences = {1}
        return _is_repeated(facts.occurrence, group.occurrences)

    def end(self) -> list[Fault]:
        """The faults that show after the last line; they count when no line has any."""
        line = self.last_line + 1
        faults = []
        if missing := _least_missing(self._sequences):
            faults.append(_fault(line, 19, "missing-sequence", f"cassette is missing sequence {missing}"))
        for group in self._groups.values():
            if group.occurrences is not None and (missing := _least_missing(group.occurrences)):
                message = f"cassette parent-context/request group is missing occurrence {missing}"
                faults.append(Fault(line, 20 * CHECK_RANKS + len(faults), "missing-occurrence", message))
        return faults


def _fault(line: int, check: int, code: str, message: str) -> Fault:
    return Fault(line, check * CHECK_RANKS, code, message)


def _is_repeated(member: object, seen: set) -> bool:  # type: ignore[type-arg]  # int or str, per set
    """Whether ``seen`` had ``member``; now it has."""
    count = len(seen)
    seen.add(member)
    return len(seen) == count


def _least_missing(numbers: set[int]) -> int | None:
    """The least of 1..n that is not among ``numbers``, n being how many they are."""
    return next((number for number in range(1, len(numbers) + 1) if number not in numbers), None)
