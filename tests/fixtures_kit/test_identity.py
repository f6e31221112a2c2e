"""Typed tokens for ids: the kit's own cases, each rule alone, and what holds for any log."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import CORPUS, load
from dsh_lake.errors import FixtureError
from dsh_lake.fixtures.identity import colliding_tokens, redact_identities
from tests.fixtures_kit.made import ORACLE, log, needs_oracle

UUIDS = [f"{'abcdef01'[n]}aaaaaaa-0000-4000-8000-00000000000{n}" for n in range(8)]
S = {"type": "session", "id": "<own>"}
DEEP = "[" * 100_000 + "]" * 100_000
CASES = load(ORACLE / "normalized/identity.json")["cases"] if ORACLE.is_dir() else []
GROUPS = load(ORACLE / "normalized/index.json")["cases"] if ORACLE.is_dir() else []


def data_of(*records):
    """The redacted data of the records of one log after the header :data:`S`."""
    (redacted,) = redact_identities([log(S, *({"type": "x", "data": data} for data in records))])
    return [json.loads(line)["data"] for line in redacted.splitlines()[1:]]


@needs_oracle
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_cases_of_the_kit(case):
    assert redact_identities(case["logs"]) == case["output"]


@needs_oracle
@pytest.mark.parametrize("case", GROUPS, ids=[case["id"] for case in GROUPS])
def test_scenarios_of_the_kit(case):
    logs = [(CORPUS / path).read_bytes().decode() for path in case["inputs"]]
    files = [ORACLE / "normalized" / output["file"] for output in case["outputs"]["redacted"]]
    assert redact_identities(logs) == [file.read_bytes().decode() for file in files]


def test_worked_example_of_the_specification():
    run = "aaaaaaaa-0000-4000-8000-00000000000a"
    mentions = {"childId": "C-1", "text": "C-1 reports to P-1", "commandId": "cmd", "runId": run}
    parent = log({"type": "session", "id": "P-1"}, {"type": "x", "data": mentions})
    child = log({"type": "session", "id": "C-1"})
    redacted = {
        "childId": "{{session:2}}",
        "text": "{{session:2}} reports to {{session:1}}",
        "commandId": "{{command:1}}",
        "runId": "{{workflow:1}}",
    }
    assert redact_identities([parent, child]) == [
        log({"type": "session", "id": "{{session:1}}"}, {"type": "x", "data": redacted}),
        log({"type": "session", "id": "{{session:2}}"}),
    ]


def test_members_are_claimed_before_what_they_hold_in_their_order():
    nested = {"zId": UUIDS[0], "a": {"id": UUIDS[1]}, "bIds": UUIDS[2]}
    assert data_of(nested) == [{"zId": "{{id:1}}", "a": {"id": "{{id:2}}"}, "bIds": "{{id:3}}"}]


def test_approvals_claim_their_id_alone():
    asked = {"type": "approval/asked", "data": {"callId": UUIDS[0], "id": UUIDS[1], "toolName": "x"}}
    (redacted,) = redact_identities([log(S, asked)])
    data = json.loads(redacted.splitlines()[1])["data"]
    assert data == {"callId": UUIDS[0], "id": "{{approval:1}}", "toolName": "x"}


def test_ids_in_prose_are_claimed_case_insensitively_and_at_word_boundaries():
    prose = f"Sent AS Message {UUIDS[0]}; anonymous user: {UUIDS[1]}; has message {UUIDS[2]}"
    expected = f"Sent AS Message {{{{message:1}}}}; anonymous user: {{{{id:1}}}}; has message {UUIDS[2]}"
    assert data_of({"text": prose}) == [{"text": expected}]


def test_an_escaped_word_in_prose_is_that_word():
    line = json.dumps({"type": "x", "data": {"t": f"as message {UUIDS[0]}"}}).replace("as", "\\u0061s")
    (redacted,) = redact_identities([log(S) + line + "\n"])
    assert json.loads(redacted.splitlines()[1])["data"] == {"t": "as message {{message:1}}"}


def test_only_uuids_that_are_claimed_somewhere_are_replaced():
    assert data_of({"text": f"{UUIDS[0]} {UUIDS[1]}"}, {"xId": UUIDS[1]}) == [
        {"text": f"{UUIDS[0]} {{{{id:1}}}}"},
        {"xId": "{{id:1}}"},
    ]


def test_uuids_are_claimed_case_sensitively():
    upper = UUIDS[0].upper()
    assert data_of({"xId": UUIDS[0], "yId": upper, "t": upper}) == [
        {"xId": "{{id:1}}", "yId": "{{id:2}}", "t": "{{id:2}}"}
    ]


def test_longer_ids_are_replaced_before_the_ids_within_them():
    assert data_of({"aId": UUIDS[0], "bId": f"goal-{UUIDS[0]}", "t": f"goal-{UUIDS[0]}/{UUIDS[0]}"}) == [
        {"aId": "{{id:1}}", "bId": "{{id:2}}", "t": "{{id:2}}/{{id:1}}"}
    ]


def test_ids_that_overlap_are_both_found():
    # The last digits of one are the first of the other: only one can be replaced.
    overlap = f"{UUIDS[0]}-0000-4000-8000-000000000009"
    second = overlap[len(UUIDS[0]) - 8 :]
    assert data_of({"t": overlap}, {"xId": second}) == [
        {"t": f"{overlap[: len(UUIDS[0]) - 8]}{{{{id:1}}}}"},
        {"xId": "{{id:1}}"},
    ]


def test_tokens_keep_their_numbers_and_raise_the_counter_when_they_are_met():
    assert data_of(
        {"aId": UUIDS[0]}, {"bId": "{{id:4}}"}, {"cId": UUIDS[1]}, {"dId": "{{id:2}}"}, {"eId": UUIDS[2]}
    ) == [
        {"aId": "{{id:1}}"},
        {"bId": "{{id:4}}"},
        {"cId": "{{id:5}}"},
        {"dId": "{{id:2}}"},
        {"eId": "{{id:6}}"},
    ]


def test_a_token_met_after_an_id_of_its_number_collides():
    def collisions(*ids):
        return colliding_tokens([[S, *({"aId": identity} for identity in ids)]])

    assert collisions(UUIDS[0], "{{id:1}}") == ["{{id:1}}"]
    assert collisions("{{id:1}}", UUIDS[0], UUIDS[0], "{{id:1}}") == []


def test_member_names_are_never_rewritten():
    assert data_of({"xId": UUIDS[0], UUIDS[0]: UUIDS[0]}) == [{"xId": "{{id:1}}", UUIDS[0]: "{{id:1}}"}]


def test_an_empty_text_is_no_id():
    data = {"rpcId": "", "commandId": "", "text": "abc"}
    assert data_of(data) == [data]


def test_tool_calls_and_jobs_have_no_uuids_and_stay():
    data = {"callId": "call_00_ab12", "jobId": "bash-38ef8848aabbccdd", "retryId": "r-1", "runId": ""}
    assert data_of(data) == [data]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '"x"',
        "nan",
        '{"a":1} {"b":2}',
        '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a":"\x01"}',
    ],
    ids=["cut", "array", "text", "nan", "two", "deep", "control"],
)
def test_what_is_no_record_is_refused_with_its_line(line):
    with pytest.raises(FixtureError, match="line 2"):
        redact_identities([log(S) + line + "\n"])


def test_odd_values_are_written_as_javascript_does():
    line = r'{"type":"x","2":1,"1":[1.0,1e21,1e-7,-0,12345678901234567890,1e999],"s":"\ud800\u2028"}'
    (redacted,) = redact_identities([log(S) + line])
    assert redacted.splitlines()[0].endswith('"id":"{{session:1}}"}')
    written = '{"1":[1,1e+21,1e-7,0,12345678901234567000,null],"2":1,"type":"x","s":"\\ud800\u2028"}'
    assert redacted.split("\n")[1] == written


NAMES = st.sampled_from(["id", "childId", "rpcId", "commandId", "retryId", "text", "type", "x", "role"])


def logs_with(ids):
    """Scenarios of one to three logs in whose values these ids stand anywhere."""
    values = st.recursive(
        ids | st.builds("as message {}".format, ids) | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
        max_leaves=8,
    )
    one = st.builds(
        lambda identity, data: log({"type": "session", "id": identity}, *({"data": each} for each in data)),
        st.sampled_from(UUIDS[:3]),
        st.lists(values, max_size=4),
    )
    return st.lists(one, min_size=1, max_size=3)


def renamed(logs, order):
    """The logs with each UUID in the place of another."""
    for at, uuid in enumerate(UUIDS):
        logs = [text.replace(uuid, f"<{at}>") for text in logs]
    for at, to in enumerate(order):
        logs = [text.replace(f"<{at}>", UUIDS[to]) for text in logs]
    return logs


@given(logs_with(st.sampled_from([*UUIDS, "{{id:3}}", "{{session:2}}", "7", "plain", "{{sessionId}}"])))
def test_redaction_is_idempotent(logs):
    once = redact_identities(logs)
    assert redact_identities(once) == once


@given(logs_with(st.sampled_from([*UUIDS, "{{id:3}}", "plain"])), st.permutations(range(len(UUIDS))))
def test_renaming_the_ids_of_a_run_changes_nothing_but_ids_that_stay(logs, order):
    assert redact_identities(renamed(logs, order)) == renamed(redact_identities(logs), order)
