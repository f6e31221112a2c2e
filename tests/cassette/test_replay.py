"""Replay: recorded outcomes, recorded times, aborts and disposal."""

from __future__ import annotations

import asyncio

import pytest

from dsh_lake.cassette.identity import Parent
from dsh_lake.cassette.provider import AbortSignal, SubagentRequest
from dsh_lake.cassette.replay import ReplayProvider
from dsh_lake.errors import CassetteError, CassetteMismatchError, CassetteRecordedError
from tests.cassette.cases import as_original, cases
from tests.cassette.made import bodies, write

REQUEST = {"prompt": [{"type": "text", "text": "hi"}]}
RESULT = {"output": [{"type": "text", "text": "done"}], "stopReason": "completed"}
ABORTED = {"output": [], "stopReason": "aborted"}


def cassette(path, outcome=None, **timing):
    """A cassette of one call that answers ``REQUEST``."""
    outcome = outcome or {"kind": "result", "redactions": 0, "result": RESULT}
    (body,) = bodies([(REQUEST, outcome, "root")])
    body["timing"] |= timing
    return write(path, [body])


def live(signal=None):
    return SubagentRequest(REQUEST, Parent("live"), signal)


def recorded_outcome(expected):
    """What the case's cassette holds; an error is told apart from the abort that hides it."""
    if expected["outcome"] == "result":
        return None
    error = {"name": "Error", "message": "provider offline"}
    seen = expected["start_error"]
    if seen["code"] != "ABORTED":
        error["name"] = seen["recorded_name"]
        error |= {} if seen["code"] == "CASSETTE_RECORDED_ERROR" else {"code": seen["code"]}
    return {"kind": expected["outcome"], "error": error}


@pytest.mark.parametrize(("folder", "name", "expected"), cases("replay"))
def test_replay(folder, name, expected, tmp_path):
    timing = {key: float(expected[key]) for key in ("startLatencyMs", "durationMs")}
    path = cassette(tmp_path / "x.cassette.jsonl", recorded_outcome(expected), **timing)
    got = asyncio.run(replayed(path, expected))
    compared = ("construct_error", "start_error", "result", "waits", "consumed")
    assert got == {key: expected[key] for key in compared if key in expected}


async def replayed(path, expected):
    waits = []

    async def wait(milliseconds):
        waits.append(milliseconds)

    speed = expected["speed"]
    speed = float(speed) if speed in ("NaN", "Infinity") else speed
    try:
        provider = ReplayProvider(path, timing=expected["timing_option"], speed=speed, wait=wait)
    except CassetteError as error:
        return {"construct_error": as_original(error)}
    signal = AbortSignal()
    if expected["aborted_before_start"]:
        signal.abort()
    got = {}
    try:
        run = await provider.start(live(signal))
        got["result"] = await run.result()
    except CassetteRecordedError as error:
        got["start_error"] = {**as_original(error), "recorded_name": error.recorded_name}
    except CassetteError as error:
        got["start_error"] = as_original(error)
    return {**got, "waits": waits, "consumed": not provider.unconsumed()}


class Clock:
    """Time that passes only when a test lets it."""

    def __init__(self):
        self.waits = []
        self._events = []

    async def wait(self, milliseconds):
        self.waits.append(milliseconds)
        self._events.append(asyncio.Event())
        await self._events[-1].wait()

    async def pass_by(self):
        await asyncio.sleep(0)
        self._events.pop(0).set()
        await asyncio.sleep(0)


def test_long_waits_are_chained(tmp_path):
    waits = []

    async def wait(milliseconds):
        waits.append(milliseconds)

    path = cassette(tmp_path / "x.cassette.jsonl", startLatencyMs=0, durationMs=5_000_000_000)
    provider = ReplayProvider(path, timing="recorded", wait=wait)

    async def scenario():
        await (await provider.start(live())).result()

    asyncio.run(scenario())
    assert waits == [2147483647, 2147483647, 5_000_000_000 - 2 * 2147483647]


@pytest.mark.parametrize("end", ["abort", "dispose", "time"])
def test_after_publication(tmp_path, end):
    path = cassette(tmp_path / "x.cassette.jsonl", startLatencyMs=10, durationMs=30)

    async def scenario():
        clock, signal = Clock(), AbortSignal()
        provider = ReplayProvider(path, timing="recorded", wait=clock.wait)
        start = asyncio.create_task(provider.start(live(signal)))
        await asyncio.sleep(0)
        await clock.pass_by()
        run = await start
        result = asyncio.create_task(run.result())
        await asyncio.sleep(0)
        if end == "abort":
            signal.abort()
        elif end == "dispose":
            await run.dispose()
        else:
            await clock.pass_by()
        assert await result == (RESULT if end == "time" else ABORTED)
        assert await run.result() == await result  # the same at every call
        assert clock.waits == [10, 20]

    asyncio.run(scenario())


def test_an_abort_during_the_start_rejects_it(tmp_path):
    path = cassette(tmp_path / "x.cassette.jsonl", startLatencyMs=10, durationMs=30)

    async def scenario():
        clock, signal = Clock(), AbortSignal()
        provider = ReplayProvider(path, timing="recorded", wait=clock.wait)
        start = asyncio.create_task(provider.start(live(signal)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        signal.abort()
        with pytest.raises(CassetteRecordedError) as rejection:
            await start
        assert (rejection.value.code, rejection.value.recorded_name) == ("ABORTED", "AbortError")
        assert provider.unconsumed() == []

    asyncio.run(scenario())


@pytest.mark.parametrize("code", [None, "", "OFF"])
def test_recorded_result_errors_come_back(tmp_path, code):
    error = {"name": "TransportError", "message": "lost", **({} if code is None else {"code": code})}
    path = cassette(tmp_path / "x.cassette.jsonl", {"kind": "result-error", "error": error})

    async def scenario():
        run = await ReplayProvider(path).start(live())
        with pytest.raises(CassetteRecordedError, match=r"^lost$") as rejection:
            await run.result()
        assert rejection.value.recorded_name == "TransportError"
        assert rejection.value.code == ("CASSETTE_RECORDED_ERROR" if code is None else code)

    asyncio.run(scenario())


def test_a_block_that_ends_well_must_have_consumed_everything(tmp_path):
    path = cassette(tmp_path / "x.cassette.jsonl")

    async def scenario(error=None):
        async with ReplayProvider(path):
            if error:
                raise error

    with pytest.raises(CassetteMismatchError, match=r"^1 cassette interaction\(s\) were not consumed"):
        asyncio.run(scenario())
    with pytest.raises(KeyError):
        asyncio.run(scenario(KeyError()))


def test_a_mismatch_consumes_nothing(tmp_path):
    path = cassette(tmp_path / "x.cassette.jsonl")

    async def scenario():
        async with ReplayProvider(path) as provider:
            with pytest.raises(CassetteMismatchError, match="diagnosis: request-changed"):
                await provider.start(SubagentRequest({"prompt": []}, Parent("someone else")))
            await (await provider.start(live())).result()

    asyncio.run(scenario())
