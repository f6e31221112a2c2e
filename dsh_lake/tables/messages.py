"""Rows of ``messages``: who spoke, how much, of what kind; never what."""

from __future__ import annotations

from dsh_lake.records.session import Block, Message, source_kind
from dsh_lake.tables.place import Head, Row, When


def text_chars(blocks: list[Block] | None) -> int:
    """Characters (code points) of the text of all text blocks; wrapped blocks included."""
    return _measure(blocks)[0]


def _measure(blocks: list[Block] | None) -> tuple[int, int, int, int]:
    """Characters of text and of reasoning, tool calls and images."""
    text = reasoning = calls = images = 0
    for block in blocks or ():
        kind = block.type
        if kind == "text":
            text += len(block.text or "")
        elif kind == "tool-call":
            calls += 1
        elif kind == "reasoning":
            reasoning += len(block.text or "")
        elif kind == "image":
            images += 1
        elif kind == "tool-result":
            text += text_chars(block.content)
    return text, reasoning, calls, images


def message_row(
    head: Head,
    when: When,
    role: str,
    message: Message,
    is_top_level: bool,
    is_replacement: bool,
    is_interrupted: bool = False,
    first_chunk_us: int | None = None,
    model: str | None = None,
) -> Row:
    """The row of one message.

    Args:
        role: by event type, since old messages lack it.
        is_top_level: the session is no sub-agent's: only there can a person have typed it.
    """
    kind = source_kind(message.source, role)
    is_human = role == "user" and kind in (None, "user") and is_top_level and not is_replacement
    about = (role, message.id, kind, is_human, is_replacement)
    return (*head, *when, *about, *_measure(message.content), is_interrupted, first_chunk_us, model)
