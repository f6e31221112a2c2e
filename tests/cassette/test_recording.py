"""Recording a provider: outcomes, redaction, order, failure points, shutdown."""

from __future__ import annotations

import asyncio
import json

import pytest

from dsh_lake.cassette import load
from dsh_lake.cassette.identity import Parent
from dsh_lake.cassette.provider import AbortSignal, SubagentRequest
from dsh_lake.cassette.recording import RecordingProvider
from dsh_lake.cassette.replay import ReplayProvider
from dsh_lake.errors import CassetteAmbiguityError, CassetteError, CassetteFormatError
from tests.cassette.cases import as_original, cases
from tests.cassette.made import CAPABILITIES


class Failure(Exception):
    """An error of the upstream provider, with the facts that JavaScript errors carry."""

    def __init__(self, message, name="Error", **code):
        super().__init__(message)
        self.name = name
        vars(self).update(code)


class Upstream:
    """Starts the described calls one after another; ``hold`` keeps a result back until it is set."""

    name = "spawn"
    capabilities = CAPABILITIES
    inherits_parent_context = False

    def __init__(self, *described):
        self.described = list(described)
        self.requests = []
        self.disposed = 0

    async def start(self, request):
        self.requests.append(request)
        described = self.described.pop(0)
        if "hold_start" in described:
            await described["hold_start"].wait()
        if "startError" in described:
            raise Failure(**described["startError"])
        return Run(self, described)


class Run:
    def __init__(self, upstream, described):
        self.upstream = upstream
        self.described = described
        self.local_agent_id = described.get("child") or ("child" if described.get("local") else None)

    async def result(self):
        if "hold" in self.described:
            await self.described["hold"].wait()
        if "resultError" in self.described:
            raise Failure(**self.described["resultError"])
        return self.described["result"]

    async def dispose(self):
        self.upstream.disposed += 1


RESULT = {"output": [{"type": "text", "text": "x"}], "stopReason": "completed"}
ROOT = Parent("live")


def request(label, parent=ROOT, signal=None):
    members = {"label": label, "prompt": [{"type": "text", "text": "hello"}]}
    return SubagentRequest(members, parent, signal)


def recorded(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def original(error):
    """As the corpus has it: the harness's errors are plain ones there."""
    return {**as_original(error), "class": "Error"} if isinstance(error, Failure) else as_original(error)


@pytest.mark.parametrize(("folder", "name", "expected"), cases("record"))
def test_recording(folder, name, expected, tmp_path):
    path = tmp_path / "x.cassette.jsonl"
    outcomes = asyncio.run(run_case(expected, path))
    assert outcomes == expected["outcomes"]
    interactions = recorded(path) if path.exists() else []
    for interaction in interactions:
        for member in ("hash", "previousHash", "timing"):
            del interaction[member]
    assert interactions == expected["interactions"]
    if path.exists():
        load(path)


async def run_case(expected, path):
    try:
        provider = RecordingProvider(
            Upstream(*expected["calls"]),
            path,
            request_storage=expected["storage"],
            redact_secrets=expected["redactSecrets"],
            redaction_patterns=expected["patterns"],
        )
    except Exception as error:
        return [original(error)]
    async with provider:
        return [await one_call(provider, call["request"]) for call in expected["calls"]]


async def one_call(provider, members):
    try:
        run = await provider.start(SubagentRequest(members, ROOT))
    except Exception as error:
        return {"start_rejected": original(error)}
    try:
        return {"returned": await run.result()}
    except Exception as error:
        return {"result_rejected": original(error)}


def test_lines_are_in_completion_order_and_sequences_in_admission_order(tmp_path):
    async def scenario():
        first, second = asyncio.Event(), asyncio.Event()
        upstream = Upstream({"hold": first, "result": RESULT}, {"hold": second, "result": RESULT})
        sent = [request("one"), request("two")]
        async with RecordingProvider(upstream, tmp_path / "x.cassette.jsonl") as provider:
            runs = [await provider.start(each) for each in sent]
            second.set()
            assert await runs[1].result() is RESULT
            first.set()
            await runs[0].result()
        assert [id(each) for each in upstream.requests] == [id(each) for each in sent]

    asyncio.run(scenario())
    assert [line["sequence"] for line in recorded(tmp_path / "x.cassette.jsonl")] == [2, 1]
    load(tmp_path / "x.cassette.jsonl")


def test_closing_waits_for_what_is_open_and_refuses_what_is_new(tmp_path):
    async def scenario():
        starting, ending = asyncio.Event(), asyncio.Event()
        upstream = Upstream(
            {"hold_start": starting, "result": RESULT}, {"hold": ending, "result": RESULT}, {"result": RESULT}
        )
        provider = RecordingProvider(upstream, tmp_path / "x.cassette.jsonl")
        start = asyncio.create_task(provider.start(request("starting")))
        await asyncio.sleep(0)
        await provider.start(request("nobody asks for its result"))
        closing = asyncio.create_task(provider.close())
        await asyncio.sleep(0)
        with pytest.raises(CassetteFormatError, match="cassette writer is closed"):
            await provider.start(request("late"))
        assert not closing.done()
        starting.set()
        ending.set()
        await closing
        assert await (await start).result() is RESULT

    asyncio.run(scenario())
    assert {line["sequence"] for line in recorded(tmp_path / "x.cassette.jsonl")} == {1, 2}


def test_a_cancelled_start_is_recorded(tmp_path):
    async def scenario():
        upstream = Upstream({"hold_start": asyncio.Event()})
        async with RecordingProvider(upstream, tmp_path / "x.cassette.jsonl") as provider:
            start = asyncio.create_task(provider.start(request("gone")))
            await asyncio.sleep(0)
            start.cancel()
            with pytest.raises(asyncio.CancelledError):
                await start

    asyncio.run(scenario())
    (line,) = recorded(tmp_path / "x.cassette.jsonl")
    assert line["outcome"]["error"] == {"name": "CancelledError", "message": ""}
    load(tmp_path / "x.cassette.jsonl")


def test_abort_and_disposal_are_timed(tmp_path):
    async def scenario():
        signal, ending = AbortSignal(), asyncio.Event()
        upstream = Upstream({"hold": ending, "result": RESULT})
        async with RecordingProvider(upstream, tmp_path / "x.cassette.jsonl") as provider:
            run = await provider.start(request("one", signal=signal))
            signal.abort()
            await asyncio.sleep(0.002)
            await run.dispose()
            ending.set()
            await run.result()
            await run.dispose()
        assert upstream.disposed == 2

    asyncio.run(scenario())
    timing = recorded(tmp_path / "x.cassette.jsonl")[0]["timing"]
    assert timing["startLatencyMs"] <= timing["signalAbortedAtMs"] <= timing["disposeCalledAtMs"]
    assert timing["disposeCalledAtMs"] <= timing["durationMs"]


def test_children_are_parents_and_strangers_are_refused(tmp_path):
    async def scenario():
        upstream = Upstream(
            {"child": "c", "result": RESULT}, {"result": RESULT}, {"child": "c", "result": RESULT}
        )
        async with RecordingProvider(upstream, tmp_path / "x.cassette.jsonl") as provider:
            await (await provider.start(request("a"))).result()
            child = Parent("c", session={"origin": "subagent", "delegationDepth": 1})
            await (await provider.start(request("b", child))).result()
            with pytest.raises(CassetteAmbiguityError, match="more than one top-level parent"):
                await provider.start(request("c", Parent("other root")))
            with pytest.raises(CassetteAmbiguityError, match="was not created through"):
                await provider.start(request("c", Parent("?", session={"origin": "subagent"})))
            with pytest.raises(CassetteAmbiguityError, match="published by two calls"):
                await provider.start(request("a again"))
        assert upstream.disposed == 1

    asyncio.run(scenario())
    lines = recorded(tmp_path / "x.cassette.jsonl")
    assert [line["parentKey"] for line in lines] == ["root", lines[0]["callKey"], "root"]
    assert [line["outcome"]["kind"] for line in lines] == ["result", "result", "start-error"]
    assert [line["local"] for line in lines] == [True, False, False]


def test_a_result_that_cannot_be_written_spoils_the_cassette(tmp_path):
    async def scenario():
        bad = {"output": [{"type": "text"}], "stopReason": "completed"}
        upstream = Upstream({"result": bad}, {"result": RESULT})
        message = r"^line 2\.outcome\.result\.output\[0\]\.text must be a string$"
        with pytest.raises(CassetteFormatError, match=message):
            async with RecordingProvider(upstream, tmp_path / "x.cassette.jsonl") as provider:
                run = await provider.start(request("a"))
                with pytest.raises(CassetteFormatError, match=message):
                    await run.result()
                run = await provider.start(request("b"))
                with pytest.raises(CassetteFormatError, match=message):
                    await run.result()

    asyncio.run(scenario())
    assert recorded(tmp_path / "x.cassette.jsonl") == []


def test_a_result_that_is_no_json_is_a_recorded_error(tmp_path):
    async def scenario():
        async with RecordingProvider(
            Upstream({"result": {"x": object()}}), tmp_path / "x.cassette.jsonl"
        ) as provider:
            run = await provider.start(request("a"))
            with pytest.raises(TypeError, match=r"^subagent cassette result is not lossless plain JSON$"):
                await run.result()

    asyncio.run(scenario())
    error = recorded(tmp_path / "x.cassette.jsonl")[0]["outcome"]["error"]
    assert error == {"name": "TypeError", "message": "subagent cassette result is not lossless plain JSON"}


def test_a_protected_request_starts_nothing(tmp_path):
    async def scenario():
        upstream = Upstream()
        options = {"request_storage": "full", "redaction_patterns": ["text"]}
        async with RecordingProvider(upstream, tmp_path / "x.cassette.jsonl", **options) as provider:
            with pytest.raises(CassetteError, match='protected content-block field "type"'):
                await provider.start(request("a"))
        assert upstream.requests == []

    asyncio.run(scenario())


def test_appending_goes_on_counting(tmp_path):
    path = tmp_path / "x.cassette.jsonl"

    async def scenario(mode):
        async with RecordingProvider(Upstream({"result": RESULT}), path, mode=mode) as provider:
            await (await provider.start(request("same"))).result()

    asyncio.run(scenario("create"))
    asyncio.run(scenario("append"))
    interactions = load(path).interactions
    assert [(facts.sequence, facts.occurrence) for facts in interactions] == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"upstream": None}, "NO_UPSTREAM"),
        ({"name": "spawn"}, "INVALID_CONFIG"),
        ({"name": " "}, "INVALID_CONFIG"),
        ({"name": "x\ufeff"}, "INVALID_CONFIG"),
        ({"path": ""}, "INVALID_CONFIG"),
        ({"path": "x "}, "INVALID_CONFIG"),
    ],
)
def test_options_that_make_no_sense(options, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chosen = {"upstream": Upstream(), "path": "x.cassette.jsonl", **options}
    with pytest.raises(CassetteError) as refusal:
        RecordingProvider(chosen.pop("upstream"), chosen.pop("path"), **chosen)
    assert refusal.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_what_was_recorded_is_replayed(tmp_path):
    path = tmp_path / "{pid}.cassette.jsonl"

    async def calls(provider):
        runs = [await provider.start(request(label)) for label in ("a", "b", "a")]
        return [await run.result() for run in runs]

    async def scenario():
        others = [{**RESULT, "usage": {"n": number}} for number in range(3)]
        async with RecordingProvider(Upstream(*({"result": other} for other in others)), path) as recorder:
            live = await calls(recorder)
        async with ReplayProvider(recorder.path, duplicate_policy="sequence") as replay:
            assert (replay.name, replay.capabilities) == ("cassette", CAPABILITIES)
            assert await calls(replay) == live

    asyncio.run(scenario())
