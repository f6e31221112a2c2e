"""Replay matching: which recorded call answers, and how a mismatch is explained."""

from __future__ import annotations

import asyncio
import json

import pytest

from dsh_lake.canonical import canonical_text, digest
from dsh_lake.cassette import load
from dsh_lake.cassette.identity import (
    Parent,
    Topology,
    call_key,
    group_fingerprint,
    inherited_messages,
    normalised_request,
    parent_context_fingerprint,
    request_metadata,
)
from dsh_lake.cassette.matching import ActualCall, Matcher
from dsh_lake.cassette.provider import SubagentRequest
from dsh_lake.cassette.replay import ReplayProvider
from dsh_lake.errors import CassetteAmbiguityError, CassetteTypeError, DshLakeError
from tests.cassette.cases import as_original, cases, vectors


def checked(assertion):
    try:
        assertion()
    except DshLakeError as error:
        return as_original(error)
    return "ok"


@pytest.mark.parametrize(("folder", "name", "expected"), cases("matcher"))
def test_matching(folder, name, expected):
    cassette = load(folder / f"{name}.cassette.jsonl")
    policy = {
        "duplicate_policy": expected["duplicatePolicy"],
        "allow_redacted": expected["allowRedactedReplay"],
    }
    if "construct_error" in expected:
        with pytest.raises(DshLakeError) as refusal:
            Matcher(cassette, **policy)
        assert as_original(refusal.value) == expected["construct_error"]
        return
    matcher = Matcher(cassette, **policy)
    for step in expected["steps"]:
        names = ("parentKey", "parentContextFingerprint", "requestFingerprint", "requestMetadata")
        check_step(matcher, cassette, step, ActualCall(*(step[name] for name in names)))
    assert matcher.unconsumed() == expected["unconsumed"]
    assert checked(matcher.assert_consumed) == expected["assert_consumed"]


def check_step(matcher, cassette, step, actual):
    if step["op"] == "diagnose":
        assert matcher.diagnose(actual) == step["diagnostic"]
    elif "matched" in step:
        facts = cassette.interactions[matcher.match(actual)]
        got = {"callKey": facts.call_key, "sequence": facts.sequence, "occurrence": facts.occurrence}
        assert got == step["matched"]
    else:
        with pytest.raises(DshLakeError) as mismatch:
            matcher.match(actual)
        assert as_original(mismatch.value) == step["error"]
        assert mismatch.value.diagnosis == step["diagnostic"]


@pytest.mark.parametrize(("folder", "name", "expected"), cases("matcher-live"))
def test_live_matching(folder, name, expected):
    asyncio.run(live(folder, name, expected))


async def live(folder, name, expected):
    provider = ReplayProvider(folder / f"{name}.cassette.jsonl")
    members = ("cwd", "origin", "delegationDepth")
    parents = [
        Parent(parent["id"], session={member: parent[member] for member in members if member in parent})
        for parent in expected["parents"]
    ]
    for parent, described in zip(parents, expected["parents"], strict=True):
        assert parent.context() == described["normalized_context"]
    for step in expected["steps"]:
        request = SubagentRequest(step["request"], parents[step["parent"]])
        before = provider.unconsumed()
        try:
            if step["op"] == "diagnose":
                assert provider.diagnose(request) == step["diagnostic"]
            else:
                await provider.start(request)
                (consumed,) = set(before) - set(provider.unconsumed())
                assert consumed == step["matched"]["callKey"]
        except DshLakeError as error:
            assert as_original(error) == step["error"]
            assert getattr(error, "diagnosis", None) == step.get("diagnostic")
    assert checked(provider.assert_consumed) == expected["assert_consumed"]


@pytest.mark.parametrize("case", vectors("identity"))
def test_identity(case):
    request = normalised_request(json.loads(case["request"]))
    context = json.loads(case["parent_context"])
    parent = Parent(
        "any", context["options"], context["session"], context.get("composition"),
        context.get("inheritedMessages"),
    )  # fmt: skip
    fingerprint = parent_context_fingerprint(parent.context())
    empty = parent_context_fingerprint(Parent("other").context())
    assert digest(request) == case["request_fingerprint"]
    assert fingerprint == case["parent_context_fingerprint"]
    assert group_fingerprint(fingerprint, digest(request)) == case["group_fingerprint"]
    assert canonical_text(request_metadata(request)) == case["request_metadata"]
    assert empty == case["empty_context_fingerprint"]
    assert call_key("root", request.get("label"), empty, digest(request), 1) == case["empty_context_call_key"]


def cyclic():
    request = {"prompt": []}
    request["prompt"].append(request)
    return request


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"prompt": [], "toolFilter": []}, "toolFilter must be an object"),
        ({"prompt": [], "toolFilter": {"z": 1, "2": 1}}, "toolFilter.2 is not supported"),
        ({"prompt": [], "toolFilter": {"deny": [1]}}, "toolFilter.deny must be an array of strings"),
        ({"prompt": [-0.0]}, "request is not lossless plain JSON"),
        ({"prompt": [2**53 + 1]}, "request is not lossless plain JSON"),
        ({"prompt": [10**400]}, "request is not lossless plain JSON"),
        ({"prompt": [object()]}, "request is not lossless plain JSON"),
        (cyclic(), "request is not lossless plain JSON"),
    ],
)
def test_requests_without_identity(request_, message):
    with pytest.raises(CassetteTypeError, match=f"^subagent cassette {message}$"):
        normalised_request(request_)


def test_a_value_that_occurs_twice_is_not_cyclic():
    block = {"type": "text", "text": "x"}
    assert normalised_request({"prompt": [block, block]}) == {"prompt": [block, block]}


def test_inherited_messages_do_not_depend_on_ids():
    def log(message_id, call_id, tail=()):
        call = {"type": "tool-call", "id": call_id, "name": "read", "arguments": "{}"}
        answer = {"type": "tool-result", "toolCallId": call_id, "content": []}
        messages = [{"id": message_id, "role": "assistant", "content": [call]}, {"content": [answer]}]
        return [*({"type": "m", "data": {"message": m}} for m in messages), {"type": "turn/end"}, *tail]

    open_turn = [{"type": "m", "data": {"message": {"content": "not yet"}}}]
    first, second = inherited_messages(log("a", "x9")), inherited_messages(log("b", "y7", open_turn))
    assert first == second
    assert [first[0]["content"][0]["id"], first[1]["content"][0]["toolCallId"]] == ["call-1", "call-1"]
    assert inherited_messages(log("a", "x")[:1]) == []


def test_a_child_is_published_by_one_call_only():
    topology = Topology()
    topology.register_child("child", "root/a~1")
    topology.register_child("child", "root/a~1")
    with pytest.raises(CassetteAmbiguityError):
        topology.register_child("child", "root/a~2")
    assert topology.claim(Parent("child", session={"origin": "subagent"})) == "root/a~1"
