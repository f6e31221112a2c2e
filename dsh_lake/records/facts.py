"""What events state besides text: outcomes, modes, codes, ids, clocks. One record type per family of events.

Every member is optional: what a generation or a plug-in spells otherwise is unknown, not an error.

Source: session-archive-fields.md; session-generations.md section 4.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from dsh_lake.records.session import Count, OptRaw, Place, Whole, read_stream, read_value

Number = int | float


class Failure(Struct, gc=False):
    """Why a request failed: ``failure`` of a retry or of a stream's end, ``error`` of a turn's end."""

    code: str | None = None
    status: Whole | None = None


class Cause(Struct, gc=False):
    kind: str | None = None


class EndReason(Struct, gc=False):
    """How a turn, or the stream of a reply, ended."""

    kind: str | None = None
    error: Failure | None = None
    failure: Failure | None = None
    reason: Cause | None = None


class TurnEnd(Place):
    reason: EndReason | None = None


class Retry(Place, rename="camel"):
    """``llm/retry`` and ``llm/retry-started``."""

    retry_id: str | None = None
    retry: Whole | None = None
    delay_ms: Number | None = None
    failure: Failure | None = None
    provider: str | None = None


class Approval(Place, rename="camel"):
    """``approval/asked`` and ``approval/decided``."""

    id: str | None = None
    tool_name: str | None = None
    call_id: str | None = None
    outcome: str | None = None


class Shadowed(Struct, gc=False):
    start: Whole | None = None
    end: Whole | None = None


class Compaction(Place, rename="camel"):
    """``compaction/start``, ``/summary``, ``/end`` and ``/prune``."""

    compaction_id: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: OptRaw = UNSET
    error: Any = None
    shadowed_range: Shadowed | None = None
    shadowed_token_count: Count | None = None


class Route(Struct, gc=False):
    """Which model of which provider a request goes to."""

    provider: str | None = None
    model: str | None = None


class RequestHeader(Struct, gc=False):
    config: Route | None = None
    tools: OptRaw = UNSET
    system: str | None = None


class Request(Place, rename="camel"):
    """``request/header`` (``header``), ``request/context`` and ``model/selection`` (fields at top level)."""

    header: RequestHeader | None = None
    reason: str | None = None
    provider: str | None = None
    model: str | None = None
    context_window: Count | None = None


class JobCall(Struct, rename="camel", gc=False):
    call_id: str | None = None


class Job(Place, rename="camel"):
    """``job/registered`` and ``job/settled``."""

    job_id: str | None = None
    kind: str | None = None
    started_at: Number | None = None
    finished_at: Number | None = None
    status: str | None = None
    cause: str | None = None
    detail: str | None = None
    tool_call: JobCall | None = None


class Child(Place, rename="camel"):
    """``subagent/catalog`` (in the parent) and ``subagent/descriptor`` (in the child)."""

    child_id: str | None = None
    mode: str | None = None
    provider: str | None = None
    agent_model: str | None = None


class WorkflowAgent(Place, rename="camel"):
    """``tool-workflow/agent-start`` and ``/agent-end``."""

    child_id: str | None = None
    run_id: str | None = None
    outcome: str | None = None


class Dispatch(Place, rename="camel"):
    """``tool/ptc-dispatch`` and ``tool/code-dispatch``: a call that a program made inside a tool call."""

    root_call_id: str | None = None
    sub_call_id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    error: Any = None


class SideRequest(Place):
    """``session/title-llm-request``: a call of a model whose usage no log reports."""

    route: Route | None = None


def end_of_stream(stream: OptRaw) -> EndReason | None:
    """How the embedded stream of a reply ended; None where it does not say."""
    for record in reversed(read_stream(stream)):
        if record.chunk is not None and record.chunk.type == "finish":
            return end_reason(record.chunk.reason)
    return None


def end_reason(raw: OptRaw) -> EndReason | None:
    """The ``reason`` of a ``finish`` chunk."""
    return None if raw is UNSET else read_value(EndReason, raw)
