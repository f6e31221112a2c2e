"""A provider that answers from a cassette, offline.

The rule: every answer is a recorded outcome of exactly the same call, with the recorded capabilities, and
after the recorded time if that is asked for.

Source: spec/cassette.md section 12.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Literal, Self

from dsh_lake.canonical import JsonValue, digest, parse_json
from dsh_lake.cassette.identity import (
    JsonObject,
    Topology,
    normalised_request,
    parent_context_fingerprint,
    request_metadata,
)
from dsh_lake.cassette.loading import Cassette, load
from dsh_lake.cassette.matching import ActualCall, Matcher
from dsh_lake.cassette.provider import AbortSignal, Result, SubagentRequest, SubagentRun, invalid_config
from dsh_lake.errors import CassetteRecordedError

_LONGEST_WAIT_MS = 2**31 - 1

Wait = Callable[[float], Awaitable[None]]
"""Waits for so many milliseconds."""


async def _sleep(milliseconds: float) -> None:
    await asyncio.sleep(milliseconds / 1000)


class ReplayProvider:
    """The recorded provider. Belongs to one event loop; ``async with`` checks consumption at the end."""

    def __init__(
        self,
        cassette: Cassette | str | os.PathLike[str],
        *,
        timing: Literal["instant", "recorded"] = "instant",
        speed: float = 1,
        duplicate_policy: str = "reject",
        allow_redacted: bool = False,
        wait: Wait = _sleep,
    ) -> None:
        """Prepare to replay a cassette, given as a path or loaded with its records.

        Args:
            timing: answer at once, or after the recorded times.
            speed: how much faster than recorded, at least 0.001.
            wait: how to let time pass.

        Raises:
            CassetteError: INVALID_CONFIG.
            CassetteFormatError, CassetteAmbiguityError, CassetteMismatchError: as ``load`` and ``Matcher``.
        """
        _check_timing(timing, speed)
        self._cassette = cassette if isinstance(cassette, Cassette) else load(cassette)
        self._matcher = Matcher(
            self._cassette, duplicate_policy=duplicate_policy, allow_redacted=allow_redacted
        )
        self._topology = Topology()
        self._scale = 1 / speed if timing == "recorded" else 0.0
        self._wait = wait

    @property
    def name(self) -> str:
        return self._cassette.header.provider_cassette or ""

    @property
    def capabilities(self) -> Mapping[str, bool]:
        """The capabilities of the recorded provider."""
        capabilities = parse_json(self._cassette.header.capabilities or "{}")
        assert isinstance(capabilities, dict)  # a verified header
        return {name: bool(value) for name, value in capabilities.items()}

    @property
    def inherits_parent_context(self) -> bool:
        return bool(self._cassette.header.inherits_parent_context)

    async def start(self, request: SubagentRequest) -> SubagentRun:
        """Consume the recorded call that answers ``request`` and publish it.

        Raises:
            CassetteAmbiguityError, CassetteMismatchError: no recorded call answers; nothing is consumed.
            CassetteRecordedError: the start failed when it was recorded, or ``request.signal`` is aborted.
            CassetteError: a recorded time cannot be scaled (INVALID_CONFIG); the call is consumed.
        """
        index = self._matcher.match(self.actual_call(request))
        self._topology.claim(request.parent)
        facts, record = self._cassette.interactions[index], self._cassette.records[index]
        start_ms = facts.start_latency_ms or 0.0
        await self._wait_or_abort(self._scaled(start_ms), request.signal)
        outcome = record["outcome"]
        assert isinstance(outcome, dict)  # the record is verified
        if outcome["kind"] == "start-error":
            raise _recorded_error(outcome)
        result_ms = self._scaled(max(0.0, (facts.duration_ms or 0.0) - start_ms))
        return _ReplayedRun(partial(self._sleep_in_pieces, result_ms), outcome, request.signal)

    def actual_call(self, request: SubagentRequest) -> ActualCall:
        """How matching sees a live request; reserves nothing.

        Raises:
            CassetteAmbiguityError: the parent cannot be named.
            CassetteTypeError: the request is no plain JSON.
        """
        normalised = normalised_request(request.members)
        return ActualCall(
            self._topology.parent_key(request.parent),
            parent_context_fingerprint(request.parent.context()),
            digest(normalised),
            request_metadata(normalised),
        )

    def diagnose(self, request: SubagentRequest) -> JsonObject:
        """What ``start`` would find, as a document, without consuming anything."""
        return self._matcher.diagnose(self.actual_call(request))

    def unconsumed(self) -> list[str]:
        """The call keys that nobody asked for, in file order."""
        return self._matcher.unconsumed()

    def assert_consumed(self) -> None:
        """Check that every recorded call was asked for.

        Raises:
            CassetteMismatchError: some were not.
        """
        self._matcher.assert_consumed()

    def _scaled(self, milliseconds: float) -> float:
        """A recorded time at the chosen speed; the product with the rounded reciprocal, as the original."""
        scaled = milliseconds * self._scale
        if not math.isfinite(scaled):
            raise invalid_config("recorded cassette timing cannot be scaled to a finite delay")
        return scaled

    async def _wait_or_abort(self, milliseconds: float, signal: AbortSignal | None) -> None:
        if signal is None:
            await self._sleep_in_pieces(milliseconds)
        elif not signal.is_aborted:
            await _first_of(self._sleep_in_pieces(milliseconds), signal.wait())
        if signal is not None and signal.is_aborted:
            message = "cassette replay aborted before subagent publication"
            raise CassetteRecordedError(message, "ABORTED", "AbortError")

    async def _sleep_in_pieces(self, milliseconds: float) -> None:
        while milliseconds > 0:
            piece = min(milliseconds, _LONGEST_WAIT_MS)
            await self._wait(piece)
            milliseconds -= piece

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.assert_consumed()


class _ReplayedRun:
    """A published call of the past; its time runs from publication, whether or not anybody waits."""

    local_agent_id = None

    def __init__(
        self, wait_until_due: Callable[[], Awaitable[None]], outcome: JsonObject, signal: AbortSignal | None
    ) -> None:
        self._outcome = outcome
        self._signal = signal
        self._disposed = asyncio.Event()
        self._is_aborted = asyncio.create_task(self._ends_early(wait_until_due))

    async def _ends_early(self, wait_until_due: Callable[[], Awaitable[None]]) -> bool:
        """Whether an abort or a disposal came before the result was due."""
        ends: list[Awaitable[object]] = [self._disposed.wait()]
        if self._signal is not None:
            ends.append(self._signal.wait())
        return await _first_of(wait_until_due(), *ends) > 0

    async def result(self) -> Result:
        """The recorded result, or an aborted one.

        Raises:
            CassetteRecordedError: the call failed when it was recorded.
        """
        if await asyncio.shield(self._is_aborted):
            return {"output": [], "stopReason": "aborted"}
        if self._outcome["kind"] == "result-error":
            raise _recorded_error(self._outcome)
        result = self._outcome["result"]
        assert isinstance(result, dict)  # the record is verified
        return result

    async def dispose(self) -> None:
        self._disposed.set()


async def _first_of(*waits: Awaitable[object]) -> int:
    """Wait for one of ``waits`` and cancel the rest; the position of the first that is done."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        first = next(position for position, task in enumerate(tasks) if task.done())
        tasks[first].result()  # raises what it raised
        return first
    finally:
        for task in tasks:
            task.cancel()


def _recorded_error(outcome: JsonObject) -> CassetteRecordedError:
    error = outcome["error"]
    assert isinstance(error, dict)  # the record is verified
    code: JsonValue = error.get("code", "CASSETTE_RECORDED_ERROR")
    return CassetteRecordedError(str(error["message"]), str(code), str(error["name"]))


def _check_timing(timing: object, speed: object) -> None:
    if timing not in ("instant", "recorded"):
        raise invalid_config('timing must be "instant" or "recorded"')
    is_number = isinstance(speed, (int, float)) and not isinstance(speed, bool)
    if not is_number or not math.isfinite(speed) or speed < 0.001:  # type: ignore[arg-type, operator]
        raise invalid_config("speed must be a finite number greater than or equal to 0.001")
