"""Rows of ``tool_calls`` and ``tool_results``; a result's three shapes become one.

Source: session-archive.md section 7, session-generations.md section 5.
"""

from __future__ import annotations

from msgspec import UNSET

from dsh_lake.records.arguments import arguments_sha256
from dsh_lake.records.session import Block, Opt, ToolCall, ToolResult
from dsh_lake.records.strict_json import without_surrogates
from dsh_lake.tables.messages import text_chars
from dsh_lake.tables.place import Head, Row, When

_REPAIR_PREFIXES = ("interrupted-tool-result-", "forked-tool-result-")


def tool_call_row(head: Head, when: When, call: ToolCall, with_content: bool) -> Row:
    """The row of a ``tool/call``. The digest of the arguments is null when they are no JSON."""
    arguments = None if call.arguments is UNSET else call.arguments
    digest = None if arguments is None else arguments_sha256(arguments)
    return (
        *head,
        _known(call.call_id),
        *when,
        _known(call.name),
        arguments if with_content else None,
        digest,
    )


def tool_result_row(head: Head, when: When, result: ToolResult, is_replacement: bool) -> Row:
    """The row of a ``tool/result`` of any generation."""
    call_id, is_error, blocks = _unwrap(result)
    failure = result.error if isinstance(result.error, dict) else {}
    message_id = result.message.id if result.message is not UNSET else UNSET
    if message_id is not UNSET and message_id.startswith(_REPAIR_PREFIXES):
        status = "interrupted"
    else:
        status = "error" if is_error is True or result.error is not None else "ok"
    return (
        *head,
        _known(call_id),
        *when,
        status,
        _text(failure.get("name")),
        _text(failure.get("code")),
        text_chars(blocks),
        is_replacement,
    )


def _unwrap(result: ToolResult) -> tuple[str | Opt, bool | Opt, list[Block] | Opt]:
    """Call id, error flag and content blocks, from wherever this generation keeps them."""
    message = result.message
    if message is UNSET:
        return result.call_id, result.is_error, result.content
    call_id = message.source.call_id if message.source is not UNSET else UNSET
    is_error, blocks, named = message.is_error, message.content, message.tool_call_id
    if blocks is not UNSET and blocks and blocks[0].type == "tool-result":
        wrapper = blocks[0]
        is_error, blocks, named = wrapper.is_error, wrapper.content, wrapper.tool_call_id
    return (named if call_id is UNSET else call_id), is_error, blocks


def _known(value: str | Opt) -> str | None:
    return None if value is UNSET else value


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return without_surrogates(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
