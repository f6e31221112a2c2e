"""Rows of ``events`` that stand for several: a packed storage row stays one row until it is read."""

from __future__ import annotations

from itertools import accumulate

from msgspec import UNSET

from dsh_lake.records.session import PACKED_KINDS, PackedRow
from dsh_lake.tables.place import Head, Row, When


class PackedMembers:
    """The members of a packed row, checked: how many, at which times, with which texts."""

    def __init__(self, kind: str, row: PackedRow) -> None:
        texts = row.args if kind == "tool-call-chunks" else row.texts
        if not texts or row.dt is None or len(row.dt) != len(texts) - 1:
            raise ValueError(
                "a packed row needs a text per member and, between them, whole numbers of milliseconds"
            )
        self.kind = kind
        self.texts = list(map(bytes, texts))
        self.offsets_ms = list(accumulate(row.dt, initial=0))
        self.row = row

    def prefix(self) -> bytes:
        """The members' data up to their text, spelled as the producer spells a chunk event's data."""
        chunk_type, member = PACKED_KINDS[self.kind]
        row = self.row
        named = b""
        if row.id is not UNSET:
            named += b'"id":' + bytes(row.id) + b","
        if row.name is not UNSET:
            named += b'"name":' + bytes(row.name) + b","
        return b'{"turn":%s,"step":%s,"chunk":{"type":"%s","index":%s,%s"%s":' % (
            _number(row.turn),
            _number(row.step),
            chunk_type,
            _number(row.index),
            named,
            member,
        )


def _number(value: object) -> bytes:
    return str(value).encode() if isinstance(value, int) else b"null"


def packed_event_row(
    head: Head, frame: int | None, when: When, members: PackedMembers, with_content: bool
) -> Row:
    """The row of a packed storage row: as many ``assistant/chunk`` events as it has members."""
    content = (members.prefix(), members.texts) if with_content else (None, None)
    count = len(members.texts)
    return (*head, frame, "assistant/chunk", *when, count, None, *content, members.offsets_ms)
