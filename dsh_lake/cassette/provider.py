"""The one-shot contract between a program and whatever runs its sub-agents.

The rule: ``start`` gives a run once the sub-agent is published, or raises; a run gives one result.

Source: spec/cassette.md sections 10, 12 and 15.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from dsh_lake.cassette.identity import Parent
from dsh_lake.errors import CassetteError


class AbortSignal:
    """Tells a started call that its caller lost interest. Belongs to one event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_aborted(self) -> bool:
        return self._event.is_set()

    def abort(self) -> None:
        self._event.set()

    async def wait(self) -> None:
        """Return once the signal is aborted."""
        await self._event.wait()


@dataclass(frozen=True, slots=True)
class SubagentRequest:
    """A call of a sub-agent. ``members`` are the request's own, named as the harness names them:
    prompt (content blocks), and optionally label, agentOptions, outputSchema, maxDepth, toolFilter, persona.
    """

    members: Mapping[str, object]
    parent: Parent
    signal: AbortSignal | None = None


Result = Mapping[str, object]
"""``output`` (content blocks), ``stopReason``, and whatever else the provider adds."""


class SubagentRun(Protocol):
    """A published sub-agent."""

    @property
    def local_agent_id(self) -> str | None:
        """The id of the child when it runs in this process and may start calls of its own, else None."""

    async def result(self) -> Result:
        """The result; the same at every call. Raises what the provider raises."""

    async def dispose(self) -> None:
        """Release the sub-agent; a result that is still open becomes an aborted one."""


class SubagentProvider(Protocol):
    """Starts sub-agents."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Mapping[str, bool]:
        """outputSchema, depthLimit, toolFilter and persona, each true or false."""

    @property
    def inherits_parent_context(self) -> bool: ...

    async def start(self, request: SubagentRequest) -> SubagentRun: ...


def invalid_config(message: str) -> CassetteError:
    """The error for options that make no sense."""
    return CassetteError(message, "INVALID_CONFIG")
