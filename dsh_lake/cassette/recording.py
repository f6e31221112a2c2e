"""A provider that records what another one does.

The rule: the call goes to the upstream provider untouched and its result comes back untouched; what is
written is normalised, redacted and checked. Sequence numbers follow the order of calls, lines the order in
which calls end.

Source: spec/cassette.md section 15.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from types import TracebackType
from typing import Any, Literal, Self

from dsh_lake.canonical import JS_WHITESPACE, digest
from dsh_lake.cassette.groups import Group, group_of
from dsh_lake.cassette.identity import (
    JsonObject,
    Topology,
    call_key,
    normalised_request,
    parent_context_fingerprint,
    plain_json,
    request_metadata,
)
from dsh_lake.cassette.loading import load
from dsh_lake.cassette.lock import iso_timestamp
from dsh_lake.cassette.provider import (
    AbortSignal,
    Result,
    SubagentProvider,
    SubagentRequest,
    SubagentRun,
    invalid_config,
)
from dsh_lake.cassette.redact import Redactor
from dsh_lake.cassette.writer import CassetteWriter, Mode, expand_tokens, new_header
from dsh_lake.errors import (
    CanonicalError,
    CassetteAmbiguityError,
    CassetteError,
    CassetteFormatError,
    CassetteTypeError,
    DshLakeError,
)


class RecordingProvider:
    """``upstream``, recorded to a cassette. Belongs to one event loop; closes itself as ``async with``."""

    def __init__(
        self,
        upstream: SubagentProvider | None,
        path: str | os.PathLike[str],
        *,
        name: str = "cassette",
        mode: Mode = "create",
        request_storage: Literal["metadata", "full"] = "metadata",
        redact_secrets: bool = True,
        redaction_patterns: Sequence[str] = (),
    ) -> None:
        """Open the cassette; ``path`` may hold ``{timestamp}`` and ``{pid}``.

        Raises:
            CassetteError: NO_UPSTREAM, or INVALID_CONFIG for names and paths that are blank or untrimmed,
                or a provider that is its own upstream.
            InvalidRedactionPattern: a pattern is no JavaScript regular expression.
            CassetteFormatError: the cassette cannot be opened.
        """
        if upstream is None:
            raise CassetteError("cassette recording needs an upstream provider", "NO_UPSTREAM")
        _check_names(name, upstream.name, os.fspath(path))
        self.name = name
        self._upstream = upstream
        self._redactor = Redactor(enabled=redact_secrets, patterns=redaction_patterns)
        self._storage = request_storage
        self._topology = Topology()
        self._occurrences: Counter[Group] = Counter()
        self._open_calls: set[asyncio.Future[Any]] = set()
        self._is_closing = False
        header = new_header(
            provider=name,
            upstream=upstream.name,
            capabilities=upstream.capabilities,
            inherits_parent_context=upstream.inherits_parent_context,
            request_storage=request_storage,
            redact_secrets=redact_secrets,
            redaction_patterns=redaction_patterns,
        )
        self._writer = CassetteWriter(expand_tokens(os.fspath(path)), header, mode)
        self._next_sequence = self._writer.next_sequence
        if self._writer.existing_interactions:
            self._continue_groups()

    def _continue_groups(self) -> None:
        """Go on counting occurrences where the existing interactions stopped."""
        for facts in load(self._writer.path, keep_records=False).interactions:
            group = group_of(facts)
            self._occurrences[group] = max(self._occurrences[group], facts.occurrence or 0)

    @property
    def path(self) -> str:
        """The cassette's absolute path."""
        return self._writer.path

    @property
    def capabilities(self) -> Mapping[str, bool]:
        return self._upstream.capabilities

    @property
    def inherits_parent_context(self) -> bool:
        return self._upstream.inherits_parent_context

    async def start(self, request: SubagentRequest) -> SubagentRun:
        """Start the call upstream and record it; a failed start is recorded and raised as it came.

        Raises:
            CassetteTypeError, CassetteError: the request cannot be identified or recorded; nothing was
                started.
            CassetteAmbiguityError: the parent cannot be named.
            CassetteFormatError: the cassette cannot be written any more.
        """
        if self._is_closing:
            raise CassetteFormatError("cassette writer is closed")
        call = self._admit(request)
        starting = asyncio.get_running_loop().create_future()
        self._open_calls.add(starting)
        try:
            run = await self._published(call, request)
        except (Exception, asyncio.CancelledError) as error:
            call.started_at_ms = call.elapsed_ms()
            self._write(call, self._error_outcome("start-error", error), call.started_at_ms)
            raise
        else:
            return self._watch(call, run, request.signal)
        finally:
            self._open_calls.discard(starting)
            starting.set_result(None)

    async def _published(self, call: _Call, request: SubagentRequest) -> SubagentRun:
        """The upstream run, its child known as a parent of calls to come."""
        run = await self._upstream.start(request)
        child = run.local_agent_id
        if child is not None:
            try:
                self._topology.register_child(child, call.key)
            except CassetteAmbiguityError:
                await run.dispose()
                raise
        call.is_published, call.is_local = True, child is not None
        call.started_at_ms = call.elapsed_ms()
        return run

    def _admit(self, request: SubagentRequest) -> _Call:
        """Identify the call and reserve its place; all that can fail comes before the reservation."""
        normalised = normalised_request(request.members)
        view = self._view(normalised)
        context = parent_context_fingerprint(request.parent.context())
        fingerprint = digest(normalised)
        parent = self._topology.claim(request.parent)
        group = Group(parent, context, fingerprint)
        self._occurrences[group] += 1
        occurrence = self._occurrences[group]
        key = call_key(parent, normalised.get("label"), context, fingerprint, occurrence)
        call = _Call(self._next_sequence, key, group, occurrence, view)
        self._next_sequence += 1
        return call

    def _view(self, request: JsonObject) -> JsonObject:
        """The request as it will be stored."""
        if self._storage == "metadata":
            return {"storage": "metadata", "metadata": request_metadata(request)}
        self._redactor.check_protected(request["prompt"])
        value, redactions = self._redactor.value(request)
        return {"storage": "full", "value": value, "redactions": redactions}

    def _watch(self, call: _Call, run: SubagentRun, signal: AbortSignal | None) -> _RecordedRun:
        task = asyncio.create_task(self._complete(call, run))
        self._open_calls.add(task)
        task.add_done_callback(self._open_calls.discard)
        task.add_done_callback(_retrieve)
        if signal is not None:
            watcher = asyncio.create_task(_note_abort(call, signal))
            task.add_done_callback(lambda _: watcher.cancel())
        return _RecordedRun(call, run, task)

    async def _complete(self, call: _Call, run: SubagentRun) -> Result:
        """The upstream's own result, once it is recorded."""
        try:
            result = await run.result()
            outcome = self._result_outcome(result)
        except (Exception, asyncio.CancelledError) as error:
            self._write(call, self._error_outcome("result-error", error), call.elapsed_ms())
            raise
        self._write(call, outcome, call.elapsed_ms())
        return result

    def _result_outcome(self, result: Result) -> JsonObject:
        try:
            plain = plain_json(dict(result))
        except CanonicalError as error:
            raise CassetteTypeError("subagent cassette result is not lossless plain JSON") from error
        if isinstance(plain, dict):
            self._redactor.check_protected(plain.get("output"))
        value, redactions = self._redactor.value(plain)
        return {"kind": "result", "result": value, "redactions": redactions}

    def _error_outcome(self, kind: str, error: BaseException) -> JsonObject:
        facts = {"name": _error_name(error), "message": _error_message(error)}
        code = getattr(error, "code", None)
        if isinstance(code, str):
            facts["code"] = code
        redacted: JsonObject = {name: self._redactor.text(text)[0] for name, text in facts.items()}
        return {"kind": kind, "error": redacted}

    def _write(self, call: _Call, outcome: JsonObject, duration_ms: float) -> None:
        self._writer.append(call.record(outcome, duration_ms))

    async def close(self) -> None:
        """Refuse new calls, wait until the open ones are recorded, then close the cassette.

        Raises:
            CassetteFormatError: a record could not be written.
        """
        self._is_closing = True
        while self._open_calls:
            await asyncio.wait(self._open_calls)
        self._writer.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except DshLakeError as failure:
            if failure is not error:
                raise


@dataclass(slots=True)
class _Call:
    """One admitted call while it runs; times in milliseconds since its admission."""

    sequence: int
    key: str
    group: Group
    occurrence: int
    view: JsonObject
    started_at_ms: float = 0
    is_published: bool = False
    is_local: bool = False
    aborted_at_ms: float | None = None
    disposed_at_ms: float | None = None
    admitted_at: str = field(default_factory=lambda: iso_timestamp(datetime.now(UTC)))
    admitted: float = field(default_factory=perf_counter)

    def elapsed_ms(self) -> float:
        """Milliseconds since admission, to the microsecond."""
        return round((perf_counter() - self.admitted) * 1000, 3)

    def record(self, outcome: JsonObject, duration_ms: float) -> dict[str, object]:
        """The interaction as it is appended."""
        timing: dict[str, object] = {
            "startedAt": self.admitted_at,
            "startLatencyMs": self.started_at_ms,
            "durationMs": duration_ms,
        }
        if self.aborted_at_ms is not None:
            timing["signalAbortedAtMs"] = self.aborted_at_ms
        if self.disposed_at_ms is not None:
            timing["disposeCalledAtMs"] = self.disposed_at_ms
        return {
            "kind": "cassette/interaction",
            "sequence": self.sequence,
            "callKey": self.key,
            "parentKey": self.group.parent_key,
            "parentContextFingerprint": self.group.parent_context_fingerprint,
            "occurrence": self.occurrence,
            "requestFingerprint": self.group.request_fingerprint,
            "request": self.view,
            "timing": timing,
            "published": self.is_published,
            "local": self.is_local,
            "outcome": outcome,
        }


class _RecordedRun:
    """An upstream run whose result is recorded, also when nobody asks for it."""

    def __init__(self, call: _Call, run: SubagentRun, completion: asyncio.Task[Result]) -> None:
        self._call = call
        self._run = run
        self._completion = completion

    @property
    def local_agent_id(self) -> str | None:
        return self._run.local_agent_id

    async def result(self) -> Result:
        return await asyncio.shield(self._completion)

    async def dispose(self) -> None:
        if self._call.disposed_at_ms is None and not self._completion.done():
            self._call.disposed_at_ms = self._call.elapsed_ms()
        await self._run.dispose()


async def _note_abort(call: _Call, signal: AbortSignal) -> None:
    await signal.wait()
    call.aborted_at_ms = call.elapsed_ms()


def _retrieve(task: asyncio.Task[Result]) -> None:
    """Mark the task's exception as seen: it is recorded, whether or not the caller asks for the result."""
    if not task.cancelled():
        task.exception()


def _error_name(error: BaseException) -> str:
    name = getattr(error, "name", None)
    return name if isinstance(name, str) and name else type(error).__name__


def _error_message(error: BaseException) -> str:
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else str(error)


def _check_names(name: str, upstream: str, path: str) -> None:
    for subject, text in (("provider name", name), ("upstream provider name", upstream), ("file", path)):
        if not text or text != text.strip(JS_WHITESPACE):
            raise invalid_config(f"cassette {subject} must be a non-empty string without surrounding blanks")
    if name == upstream:
        raise invalid_config(f'cassette provider "{name}" cannot be its own upstream')
