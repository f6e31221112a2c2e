"""Rows of ``cassettes``, ``interactions`` and ``cassette_faults``.

The rule: what the record says in plain values, never what was asked or answered. A text with lone
surrogates, which no table can hold, is stored in the form that ``cassette_facts.storable`` gives it.
"""

from __future__ import annotations

import msgspec

from dsh_lake.records.cassette_facts import Fault, Header, Interaction, storable
from dsh_lake.tables.place import Row

_LABEL = Interaction.__struct_fields__.index("label")
_PATTERNS = Header.__struct_fields__.index("redaction_patterns")


def cassette_row(header: Header, physical_line: int | None, with_content: bool) -> Row:
    """The row of a cassette file; all null where its first line is no header."""
    row = _stored(msgspec.structs.astuple(header))
    if not with_content:
        row = _without(row, _PATTERNS)
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
        row = _without(row, _LABEL)
    return (*row, physical_line, byte_offset)


def fault_row(fault: Fault, physical_line: int | None) -> Row:
    """The row of one failed check of a record by itself."""
    return (fault.line, fault.rank, fault.code, storable(fault.message), physical_line)


def _stored(row: Row) -> Row:
    return tuple(storable(value) if isinstance(value, str) else value for value in row)


def _without(row: Row, at: int) -> Row:
    return (*row[:at], None, *row[at + 1 :])
