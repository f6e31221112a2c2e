"""Rows of ``event_facts``: what events state besides text, in columns that all kinds of events share.

Each family of events has a function here that says which of its members stands in which column.
Source: session-archive.md sections 7 to 11, session-archive-fields.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from msgspec import UNSET, Struct

from dsh_lake.records import facts
from dsh_lake.records.session import (
    MAX_TIME_MS,
    AssistantChunk,
    AssistantMessage,
    Place,
    WrappedMessage,
    first_stream_time,
)
from dsh_lake.schemas import FACT_COLUMNS
from dsh_lake.tables.place import Head, Row, When

Facts = dict[str, Any]
"""Column to value; what is left out is null."""

_NAMES = tuple(column.name for column in FACT_COLUMNS)
_EXIT_CODE = re.compile(r"^exit code: (-?\d{1,9})\b").match


def fact_row(head: Head, when: When, kind: str, is_replacement: bool, stated: Facts) -> Row:
    """The row of one event of type ``kind``."""
    return (*head, *when, kind, is_replacement, *map(stated.get, _NAMES))


def _instant(milliseconds: float | None) -> int | None:
    """Milliseconds since the epoch as microseconds; None when that is no date."""
    if milliseconds is None or not -MAX_TIME_MS <= milliseconds <= MAX_TIME_MS:
        return None
    return int(milliseconds * 1000)


def _failed(failure: facts.Failure | None) -> Facts:
    return {} if failure is None else {"code": failure.code, "http_status": failure.status}


def _error_code(error: object) -> str | None:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else None


def _turn_start(record: Place) -> Facts:
    """Nothing but that it began: with the row of its end all of a turn is found in one small table. The
    reader adds whom the open request asks."""
    return {}


def _turn_end(record: facts.TurnEnd) -> Facts:
    reason = record.reason
    if reason is None:
        return {}
    cause = reason.reason.kind if reason.reason is not None else None
    return {"outcome": reason.kind, "cause": cause, **_failed(reason.error)}


def _attempt(record: AssistantMessage) -> Facts:
    reason = facts.end_of_stream(record.stream)
    source = record.source
    asked = {} if source is None else {"provider": source.provider, "model": source.model}
    ended = {} if reason is None else {"outcome": reason.kind, **_failed(reason.failure)}
    began = first_stream_time(record.stream)
    return {**asked, **ended, "started_at": _instant(began)}


def _chunk(record: AssistantChunk) -> Facts | None:
    """Of the stream of early formats only how a failed reply ended."""
    chunk = record.chunk
    if chunk is None or chunk.type != "finish":
        return None
    reason = facts.end_reason(chunk.reason)
    if reason is None or reason.kind != "error":
        return None
    return {"outcome": reason.kind, **_failed(reason.failure)}


def _retry(record: facts.Retry) -> Facts:
    return {
        "subject_id": record.retry_id,
        "ordinal": record.retry,
        "delay_ms": record.delay_ms,
        "provider": record.provider,
        **_failed(record.failure),
    }


def _approval(record: facts.Approval) -> Facts:
    return {
        "subject_id": record.id,
        "call_id": record.call_id,
        "name": record.tool_name,
        "outcome": record.outcome,
    }


def _compaction(record: facts.Compaction) -> Facts:
    span = record.shadowed_range
    return {
        "subject_id": record.compaction_id,
        "outcome": None if record.error is None else "error",
        "provider": record.provider,
        "model": record.model,
        "first_seq": None if span is None else span.start,
        "last_seq": None if span is None else span.end,
        "tokens": record.shadowed_token_count,
    }


def _request(record: facts.Request) -> Facts:
    header = record.header
    stated: Facts = {
        "provider": record.provider,
        "model": record.model,
        "cause": record.reason,
        "tokens": record.context_window,
    }
    if header is None:
        return stated
    if header.config is not None:
        stated |= {"provider": header.config.provider, "model": header.config.model}
    if header.tools is not UNSET:
        stated["tools_sha256"] = sha256(header.tools).hexdigest()
    if header.system is not None:
        stated["prompt_sha256"] = _digest(header.system)
    return stated


def _prompt(record: WrappedMessage) -> Facts:
    blocks = record.message.content if record.message is not None else None
    return {"prompt_sha256": _digest("".join(block.text or "" for block in blocks or ()))}


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _job(record: facts.Job) -> Facts:
    exit_code = _EXIT_CODE(record.detail or "")
    return {
        "subject_id": record.job_id,
        "call_id": record.tool_call.call_id if record.tool_call is not None else None,
        "name": record.kind,
        "outcome": record.status,
        "cause": record.cause,
        "exit_code": int(exit_code[1]) if exit_code is not None else None,
        "started_at": _instant(record.started_at),
        "finished_at": _instant(record.finished_at),
    }


def _child(record: facts.Child) -> Facts:
    return {
        "subject_id": record.child_id,
        "name": record.mode,
        "cause": record.provider,
        "model": record.agent_model,
    }


def _workflow_agent(record: facts.WorkflowAgent) -> Facts:
    return {"subject_id": record.child_id or record.run_id, "outcome": record.outcome}


def _dispatch(record: facts.Dispatch) -> Facts:
    is_error = record.is_error is True or record.error is not None
    return {
        "subject_id": record.sub_call_id,
        "call_id": record.root_call_id,
        "name": record.name,
        "outcome": "error" if is_error else "ok",
        "code": _error_code(record.error),
    }


def _side_request(record: facts.SideRequest) -> Facts:
    route = record.route
    return {} if route is None else {"provider": route.provider, "model": route.model}


Describe = Callable[[Any], Facts | None]

_COMPACTION = {
    f"{word}/{step}": (facts.Compaction, _compaction)
    for word in ("compaction", "compact")
    for step in ("start", "summary", "end", "prune")
}
_DISPATCH = (facts.Dispatch, _dispatch)

FACTS: Mapping[str, tuple[type[Struct], Describe]] = {
    "turn/start": (Place, _turn_start),
    "turn/end": (facts.TurnEnd, _turn_end),
    "assistant/attempt": (AssistantMessage, _attempt),
    "assistant/chunk": (AssistantChunk, _chunk),
    "llm/retry": (facts.Retry, _retry),
    "llm/retry-started": (facts.Retry, _retry),
    "approval/asked": (facts.Approval, _approval),
    "approval/decided": (facts.Approval, _approval),
    **_COMPACTION,
    "request/header": (facts.Request, _request),
    "request/context": (facts.Request, _request),
    "model/selection": (facts.Request, _request),
    "system/message": (WrappedMessage, _prompt),
    "developer/message": (WrappedMessage, _prompt),
    "job/registered": (facts.Job, _job),
    "job/settled": (facts.Job, _job),
    "subagent/catalog": (facts.Child, _child),
    "subagent/descriptor": (facts.Child, _child),
    "tool-workflow/agent-start": (facts.WorkflowAgent, _workflow_agent),
    "tool-workflow/agent-end": (facts.WorkflowAgent, _workflow_agent),
    "tool/ptc-dispatch": _DISPATCH,
    "tool/code-dispatch": _DISPATCH,
    "session/title-llm-request": (facts.SideRequest, _side_request),
    "web/deepseek-search-llm-request": (facts.SideRequest, _side_request),
}
"""Event type to the record that its payload is read as and to what that states; None: no row."""
