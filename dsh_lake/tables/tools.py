"""Rows of ``tool_calls`` and ``tool_results``; a result's three shapes become one.

Source: session-archive.md section 7, session-generations.md section 5.
"""

from __future__ import annotations

import re

from dsh_lake.records.arguments import arguments_sha256
from dsh_lake.records.session import Block, ToolCall, ToolResult
from dsh_lake.records.strict_json import without_surrogates
from dsh_lake.tables.messages import text_chars
from dsh_lake.tables.place import Head, Row, When

_EXIT_CODE = re.compile(r"\[exit code: (-?\d{1,9})\]\Z").search
_LONGEST_MARK = 24
_REPAIR_PREFIXES = ("interrupted-tool-result-", "forked-tool-result-")


def tool_call_row(head: Head, when: When, call: ToolCall, model: str | None, with_content: bool) -> Row:
    """The row of a ``tool/call`` in a reply of ``model``. Arguments that are no JSON have no digest."""
    arguments = call.arguments
    digest = None if arguments is None else arguments_sha256(arguments)
    return (*head, call.call_id, *when, call.name, arguments if with_content else None, digest, model)


def tool_result_row(head: Head, when: When, result: ToolResult, is_replacement: bool) -> Row:
    """The row of a ``tool/result`` of any generation."""
    call_id, is_error, blocks = _unwrap(result)
    error, name, code = result.error, None, None
    if isinstance(error, dict):
        name, code = _text(error.get("name")), _text(error.get("code"))
    message_id = result.message.id if result.message is not None else None
    if message_id is not None and message_id.startswith(_REPAIR_PREFIXES):
        status = "interrupted"
    else:
        status = "error" if is_error or error is not None else "ok"
    said = (text_chars(blocks), _exit_code(blocks))
    return (*head, call_id, *when, status, name, code, *said, is_replacement)


def _exit_code(blocks: list[Block] | None) -> int | None:
    """The exit code that a shell tool writes at the end of its text."""
    text = blocks[-1].text if blocks else None
    if text is None or text[-1:] != "]":
        return None
    stated = _EXIT_CODE(text, max(0, len(text) - _LONGEST_MARK))
    return int(stated[1]) if stated is not None else None


def _unwrap(result: ToolResult) -> tuple[str | None, bool | None, list[Block] | None]:
    """Call id, error flag and content blocks, from wherever this generation keeps them."""
    message = result.message
    if message is None:
        return result.call_id, result.is_error, result.content
    is_error, blocks, named = message.is_error, message.content, message.tool_call_id
    if blocks and blocks[0].type == "tool-result":
        wrapper = blocks[0]
        is_error, blocks, named = wrapper.is_error, wrapper.content, wrapper.tool_call_id
    source = message.source
    return (source.call_id if source is not None else None) or named, is_error, blocks


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return without_surrogates(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
