"""Rows of ``cassettes``, ``interactions`` and ``cassette_faults``.

The rule: what the record says in plain values, never what was asked or answered. Without content nothing
stays that a person may have worded either: of a call key, which names labels, its digest; of a fault, what is
wrong. A text with lone surrogates, which no table can hold, is stored in the form that
``cassette_facts.storable`` gives it.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from dsh_lake.records.cassette_facts import Fault, Header, Interaction, storable
from dsh_lake.tables.place import Row

_LABEL = Interaction.__struct_fields__.index("label")
_KEYS = tuple(map(Interaction.__struct_fields__.index, ("call_key", "parent_key")))
_PATTERNS = Header.__struct_fields__.index("redaction_patterns")
_FREE_IF_WRONG = tuple(map(Header.__struct_fields__.index, ("target", "capabilities")))
_ROOT = "root"
_WITHOUT_QUOTES = {
    "unknown-member": "a member is not supported",
    "unsupported-format": "unsupported cassette format",
    "unsupported-version": "unsupported cassette schema version",
    "unsupported-target": "cassette targets another version of @deepseek-ai/dsh-subagent",
}
"""Faults whose messages quote the file, in words that do not."""


def cassette_row(header: Header, physical_line: int | None, *, is_sound: bool, with_content: bool) -> Row:
    """The row of a cassette file; all null where its first line is no header.

    Args:
        is_sound: whether the header passes its checks; if not, target and capabilities may be any words.
    """
    row = _stored(msgspec.structs.astuple(header))
    if not with_content:
        row = _with(row, _PATTERNS, None)
        for at in () if is_sound else _FREE_IF_WRONG:
            row = _with(row, at, None)
    return (*row, physical_line)


def interaction_row(
    facts: Interaction, physical_line: int, byte_offset: int, *, is_escaped: bool, with_content: bool
) -> Row:
    """The row of one interaction.

    Args:
        is_escaped: whether the line holds escapes; only then can its texts hold lone surrogates.
    """
    row = msgspec.structs.astuple(facts)
    if is_escaped:
        row = _stored(row)
    if not with_content:
        row = _with(row, _LABEL, None)
        for at in _KEYS:
            row = _with(row, at, _unworded_key(row[at]))
    return (*row, physical_line, byte_offset)


def fault_row(fault: Fault, physical_line: int | None, *, with_content: bool) -> Row:
    """The row of one failed check of a record by itself."""
    message = fault.message if with_content else _WITHOUT_QUOTES.get(fault.code, fault.message)
    return (fault.line, fault.rank, fault.code, storable(message), physical_line)


def _unworded_key(key: str | None) -> str | None:
    """A call key with a digest for each step below the root: equal keys stay equal, and below the same."""
    if key is None:
        return None
    return "/".join(step if step == _ROOT else _digest(step) for step in key.split("/"))


def _digest(step: str) -> str:
    return sha256(step.encode()).hexdigest()[:16]


def _stored(row: Row) -> Row:
    return tuple(storable(value) if isinstance(value, str) else value for value in row)


def _with(row: Row, at: int, value: str | None) -> Row:
    return (*row[:at], value, *row[at + 1 :])
