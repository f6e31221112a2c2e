"""What a cassette holds, counted: the data of ``verify`` and ``inspect`` and the original's texts of it.

The rule: only a verified cassette has a summary.

Source: spec/cassette.md sections 7 (counts) and 8 (outputs).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from dsh_lake.canonical import JsonValue, parse_json
from dsh_lake.cassette.across import AcrossLines
from dsh_lake.cassette.loading import absolute_path, verified_lines
from dsh_lake.cassette.terminal import json_document, one_decimal, printed_lines
from dsh_lake.records.cassette_checks import CAPABILITIES
from dsh_lake.records.cassette_facts import Header, Interaction


class Call(msgspec.Struct, gc=False):
    """One call as ``inspect --show-calls`` lists it."""

    sequence: int | None
    call_key: str | None
    parent_context_fingerprint: str | None
    request_fingerprint: str | None
    outcome_kind: str | None
    stop_reason: str | None
    duration_ms: float


class Summary(msgspec.Struct):
    """Counts over one verified cassette; ``calls`` by ascending sequence, only when asked for.

    ``completed`` and ``aborted`` are results with just that stop reason, ``failed`` is everything else.
    ``duration_ms`` is the longest call's.
    """

    file: str
    header: Header
    interactions: int = 0
    completed: int = 0
    failed: int = 0
    aborted: int = 0
    ambiguous_groups: int = 0
    redacted_results: int = 0
    duration_ms: float = 0
    calls: list[Call] | None = None

    def verdict(self) -> str:
        """The line that ``verify`` prints."""
        name = self.header.cassette_id
        return printed_lines([f"OK: {self.interactions} interaction(s), hash chain verified ({name})"])

    def text(self) -> str:
        """What ``inspect`` prints, with a line for each call if there are calls."""
        header = self.header
        lines = [
            f"Cassette: {header.cassette_id}",
            f"File: {self.file}",
            f"Provider: {header.provider_cassette} -> {header.provider_upstream}",
            f"Interactions: {self.interactions}",
            f"Completed / failed / aborted: {self.completed} / {self.failed} / {self.aborted}",
            f"Ambiguous duplicate groups: {self.ambiguous_groups}",
            f"Redacted results: {self.redacted_results}",
        ]
        for call in self.calls or ():
            end = call.stop_reason or call.outcome_kind
            lines.append(f"{call.sequence:4}  {call.call_key}  {end}  {one_decimal(call.duration_ms)}ms")
        return printed_lines(lines)

    def document(self) -> Iterator[str]:
        """What ``verify --json`` and ``inspect --json`` print, in pieces."""
        members: dict[str, object] = {
            "file": self.file,
            "cassetteId": self.header.cassette_id,
            "provider": self._provider(),
            "interactions": self.interactions,
            "completed": self.completed,
            "failed": self.failed,
            "aborted": self.aborted,
            "ambiguousGroups": self.ambiguous_groups,
            "redactedResults": self.redacted_results,
            "durationMs": self.duration_ms,
        }
        if self.calls is not None:
            members["calls"] = map(_call_document, self.calls)
        yield from json_document(members)
        yield "\n"

    def _provider(self) -> dict[str, object]:
        capabilities: JsonValue = parse_json(self.header.capabilities or "{}")
        assert isinstance(capabilities, dict)  # a verified header
        return {
            "cassette": self.header.provider_cassette,
            "upstream": self.header.provider_upstream,
            "capabilities": {name: capabilities[name] for name in CAPABILITIES},
            "inheritsParentContext": self.header.inherits_parent_context,
        }


def _call_document(call: Call) -> dict[str, object]:
    stop_reason = {} if call.stop_reason is None else {"stopReason": call.stop_reason}
    return {
        "sequence": call.sequence,
        "callKey": call.call_key,
        "parentContextFingerprint": call.parent_context_fingerprint,
        "requestFingerprint": call.request_fingerprint,
        "outcome": call.outcome_kind,
        **stop_reason,
        "durationMs": call.duration_ms,
    }


def summarise(path: str | os.PathLike[str], *, with_calls: bool = False) -> Summary:
    """The summary of the cassette at ``path``, which is thereby verified.

    Memory: about 400 bytes an interaction, 1 kB with calls.

    Raises:
        CassetteFormatError, CassetteTypeError: the file's first fault.
    """
    across = AcrossLines()
    summary = Summary(absolute_path(path), Header(), calls=[] if with_calls else None)
    for line in verified_lines(path, across):
        if isinstance(line.facts, Interaction):
            _count(summary, line.facts)
        elif line.facts is not None:
            summary.header = line.facts
    summary.ambiguous_groups = across.ambiguous_groups
    if summary.calls is not None:
        summary.calls.sort(key=lambda call: call.sequence or 0)
    return summary


def _count(summary: Summary, facts: Interaction) -> None:
    summary.interactions += 1
    if facts.stop_reason == "completed":
        summary.completed += 1
    elif facts.stop_reason == "aborted":
        summary.aborted += 1
    else:
        summary.failed += 1
    summary.redacted_results += bool(facts.redactions)
    duration = facts.duration_ms or 0
    summary.duration_ms = max(summary.duration_ms, duration)
    if summary.calls is not None:
        call = Call(
            facts.sequence,
            facts.call_key,
            facts.parent_context_fingerprint,
            facts.request_fingerprint,
            facts.outcome_kind,
            facts.stop_reason,
            duration,
        )
        summary.calls.append(call)
