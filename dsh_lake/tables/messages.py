"""Rows of ``messages``: who spoke, how much, of what kind; never what."""

from __future__ import annotations

from msgspec import UNSET

from dsh_lake.records.session import Block, Message, MessageSource, Opt, source_kind
from dsh_lake.tables.place import Head, Row, When


def text_chars(blocks: list[Block] | Opt, kind: str = "text") -> int:
    """Characters (code points) of the text of all blocks of one kind; wrapped blocks included."""
    if blocks is UNSET:
        return 0
    total = 0
    for block in blocks:
        if block.type == kind:
            if block.text is not UNSET:
                total += len(block.text)
        elif block.type == "tool-result":
            total += text_chars(block.content, kind)
    return total


def _count(blocks: list[Block] | Opt, kind: str) -> int:
    return 0 if blocks is UNSET else sum(block.type == kind for block in blocks)


def message_row(
    head: Head,
    when: When,
    role: str,
    message: Message,
    *,
    source: MessageSource | Opt,
    is_top_level: bool,
    is_replacement: bool,
    is_interrupted: bool = False,
) -> Row:
    """The row of one message.

    Args:
        role: by event type, since old messages lack it.
        is_top_level: the session is no sub-agent's: only there can a person have typed it.
    """
    kind = source_kind(source, role)
    is_human = role == "user" and kind in (None, "user") and is_top_level and not is_replacement
    blocks = message.content
    return (
        *head,
        *when,
        role,
        None if message.id is UNSET else message.id,
        kind,
        is_human,
        is_replacement,
        text_chars(blocks),
        text_chars(blocks, "reasoning"),
        _count(blocks, "tool-call"),
        _count(blocks, "image"),
        is_interrupted,
    )
