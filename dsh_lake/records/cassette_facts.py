"""What one line of a cassette says, as plain values: header, interaction, and what is wrong with it.

Everything that a check across lines needs (chain, sequence, call keys, occurrences, storage, ambiguity)
is a field here, so that such checks can be queries over rows.

Strings may hold lone surrogates, which Arrow and DuckDB refuse: see ``storable``.

Source: spec/interface.md, tables ``cassettes`` and ``interactions``; spec/cassette.md sections 3 and 4.
"""

from __future__ import annotations

import re

import msgspec

STOP_REASONS = frozenset({"completed", "aborted", "error", "max-tokens", "refusal"})

CHECK_RANKS = 1_000_000
"""Ranks that one check of the specification's tables owns."""


class Fault(msgspec.Struct, frozen=True, gc=False):
    """One failed check.

    ``line`` counts the non-blank lines from 1; it is 0 for the file as a whole and one more than the last
    line for what only shows at the end. ``rank`` orders the checks of one line: the number of the check
    in the specification's table times ``CHECK_RANKS``, plus a running number within that check; syntax
    (0) and duplicate members (1) come before all of them. The original reports, of all faults of a file,
    the one with the least (line, rank) and stops there.
    """

    line: int
    rank: int
    code: str
    message: str

    @property
    def is_type_error(self) -> bool:
        """Whether the original fails with a plain TypeError here, and not with a format error."""
        return self.code == "not-convertible"


class Header(msgspec.Struct, gc=False):
    """Line 1 of a cassette; a field is None where the record has nothing of the required type.

    ``request_storage`` is metadata or full. ``capabilities`` and ``redaction_patterns`` are canonical
    JSON; digests carry their ``sha256:``.
    """

    cassette_id: str | None = None
    created_at: str | None = None
    target: str | None = None
    provider_cassette: str | None = None
    provider_upstream: str | None = None
    capabilities: str | None = None
    inherits_parent_context: bool | None = None
    request_storage: str | None = None
    redact_secrets: bool | None = None
    redaction_patterns: str | None = None
    stated_sha256: str | None = None
    computed_sha256: str | None = None


class Interaction(msgspec.Struct, gc=False):
    """A later line of a cassette; a field is None where the record has nothing of the required type.

    ``outcome_kind`` is start-error, result-error or result.
    ``stop_reason`` is the category (an unknown reason is ``other``), for results only, as ``redactions``.
    ``outcome_fingerprint`` is the digest of the whole canonical outcome: equal fingerprints, equal
    outcomes. ``prompt_bytes`` of a full request are the UTF-8 bytes of the canonical stored prompt.
    """

    line: int
    sequence: int | None = None
    call_key: str | None = None
    parent_key: str | None = None
    parent_context_fingerprint: str | None = None
    request_fingerprint: str | None = None
    occurrence: int | None = None
    label: str | None = None
    prompt_blocks: int | None = None
    prompt_bytes: int | None = None
    request_storage: str | None = None
    started_at: str | None = None
    start_latency_ms: float | None = None
    duration_ms: float | None = None
    published: bool | None = None
    is_local: bool | None = None
    outcome_kind: str | None = None
    stop_reason: str | None = None
    outcome_fingerprint: str | None = None
    redactions: int | None = None
    error_name: str | None = None
    error_code: str | None = None
    previous_sha256: str | None = None
    stated_sha256: str | None = None
    computed_sha256: str | None = None


_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_STORED_SURROGATES = re.compile("[\U0010d800-\U0010dfff]")
_SHIFT = 0x100000


def storable(text: str) -> str:
    """``text`` for a table: lone surrogates move to U+10D800 and up (private use), the rest stays.

    Different texts stay different unless they use those private characters themselves.
    """
    if text.isascii():
        return text
    return _LONE_SURROGATES.sub(lambda unit: chr(ord(unit[0]) + _SHIFT), text)


def unstored(text: str) -> str:
    """The text that ``storable`` was given."""
    if text.isascii():
        return text
    return _STORED_SURROGATES.sub(lambda unit: chr(ord(unit[0]) - _SHIFT), text)
