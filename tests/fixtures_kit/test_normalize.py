"""Normalised, scrubbed and projected logs, and scenarios: the kit's outputs, each rule, and laws."""

from __future__ import annotations

import hashlib
import json

import pytest

from corpus import CORPUS, load
from dsh_lake.errors import FixtureError
from dsh_lake.fixtures.log_files import read_log_file
from dsh_lake.fixtures.normalize import (
    normalize_log,
    normalize_scenario,
    normalize_snapshot,
    project,
    scrub,
)
from dsh_lake.fixtures.strings import Context
from tests.fixtures_kit.made import ORACLE, log, needs_oracle
from tests.fixtures_kit.runs import (
    CHILD,
    CWD,
    SESSION,
    message_id,
    records,
    rows,
    tool_events,
    v0_events,
    v0_header,
    v4_header,
)

GROUPS = load(ORACLE / "normalized/index.json")["cases"] if ORACLE.is_dir() else []
DRIFT = load(ORACLE / "drift/index.json")["cases"] if ORACLE.is_dir() else []
RUN = Context(CWD)


def outputs(case, name):
    return [
        (ORACLE / "normalized" / output["file"]).read_bytes().decode() for output in case["outputs"][name]
    ]


@needs_oracle
@pytest.mark.parametrize("case", GROUPS, ids=[case["id"] for case in GROUPS])
def test_outputs_of_the_kit(case):
    logs = [(CORPUS / path).read_bytes().decode() for path in case["inputs"]]
    context = Context(case["context"]["cwd"], (), case["context"]["sessionIds"], legacy_ids=True)
    assert [normalize_log(text, context) for text in logs] == outputs(case, "log")
    assert [normalize_snapshot(text, context) for text in logs] == outputs(case, "snapshot")
    assert [project(text) for text in logs] == outputs(case, "projected")
    expected = case["outputs"]["snapshots"]
    if isinstance(expected, dict):
        with pytest.raises(FixtureError) as refusal:
            normalize_scenario(logs, cwd=case["context"]["cwd"])
        assert str(refusal.value) == expected["error"]
        return
    normalized = normalize_scenario(logs, cwd=case["context"]["cwd"])
    assert normalized == outputs(case, "snapshots")
    assert normalize_scenario(normalized, cwd=case["context"]["cwd"]) == normalized


def in_order(logs):
    """A harvest's logs: roots before children, then by time of creation, then by id."""
    headers = [json.loads(text.split("\n", 1)[0]) for text in logs]
    keys = [("parentSession" in header, header["createdAt"], header["id"]) for header in headers]
    return [text for _, text in sorted(zip(keys, logs, strict=True))]


@needs_oracle
@pytest.mark.parametrize("case", DRIFT, ids=[f"{case['scenario']}.{case['variant']}" for case in DRIFT])
def test_fixtures_and_fresh_runs_compare_as_the_kit_says(case):
    scenario = CORPUS / "snapshots/recorded-0.2.1-rc.2/session" / case["scenario"]
    files = sorted(scenario.glob("session*.jsonl"), key=lambda file: (len(file.name), file.name))
    fresh = (CORPUS / "snapshots-fresh" / case["scenario"] / case["variant"]).rglob("session*.zstd")
    expected = normalize_scenario([read_log_file(file) for file in files], native_writer=True)
    actual = normalize_scenario(in_order([read_log_file(file) for file in fresh]), native_writer=True)
    assert (len(expected), len(actual)) == (case["roles"]["fixture"], case["roles"]["fresh"])
    for session in case["sessions"]:
        pair = [expected[session["role"]], actual[session["role"]]]
        assert session["status"] == ("equal" if pair[0] == pair[1] else "different")
        digests = [hashlib.sha256(text.encode()).hexdigest() for text in pair]
        stated = session.get("sha256")
        assert digests == [session.get("expectedSha256", stated), session.get("actualSha256", stated)]


def test_worked_example_of_the_specification():
    (normalized,) = normalize_scenario([rows(v4_header(), *tool_events())])
    result = next(row for row in records(normalized) if row["type"] == "tool/result")
    assert result == {
        "type": "tool/result",
        "data": {
            "turn": 1,
            "step": 1,
            "message": {
                "role": "tool",
                "source": {"kind": "tool", "callId": "call_1"},
                "toolCallId": "call_1",
                "content": [
                    {"type": "text", "text": f"{{{{cwd}}}}/a.txt and {CWD}-other/b.txt and {{{{cwd}}}}."}
                ],
                "isError": False,
                "id": "{{message:4}}",
            },
        },
        "sourceEventSeqs": [6],
        "surfaceOp": "append",
    }
    assert records(normalized)[0] == {
        "type": "session",
        "id": "{{session:1}}",
        "createdAt": 0,
        "cwd": "{{cwd}}",
        "isSeeded": False,
        "delegationDepth": 0,
    }


def one(record, **context):
    """A record after normalising the log that holds it."""
    text = log({"type": "session", "id": "i"}, record)
    return records(normalize_log(text, Context(CWD, **context)))[1]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"type": "x", "seq": 3, "time": 9}, {"type": "x", "seq": 3, "time": 0}),
        (
            {"type": "text-chunks", "seq0": 3, "time0": 9, "time": 8, "data": {"dt": [1, 2], "texts": []}},
            {"type": "text-chunks", "seq0": 3, "time0": 0, "time": 8, "data": {"dt": [0, 0], "texts": []}},
        ),
        (
            {"type": "reasoning-chunks", "data": {"dt": [4]}},
            {"type": "reasoning-chunks", "data": {"dt": [0]}},
        ),
        (
            {"type": "assistant/attempt", "data": {"stream": [{"time": 5, "time0": 6, "dt": [7]}, 3]}},
            {"type": "assistant/attempt", "data": {"stream": [{"time": 0, "time0": 0, "dt": [0]}, 3]}},
        ),
        (
            {"type": "assistant/message", "data": {"stream": [{"time": "5"}], "time": 5}},
            {"type": "assistant/message", "data": {"stream": [{"time": "5"}], "time": 5}},
        ),
        (
            {"type": "hook/result", "data": {"durationMs": 5}},
            {"type": "hook/result", "data": {"durationMs": 0}},
        ),
        (
            {"type": "feedback/message-put", "data": {"item": {"createdAt": 5, "updatedAt": 6}}},
            {"type": "feedback/message-put", "data": {"item": {"createdAt": 0, "updatedAt": 0}}},
        ),
        (
            {"type": "goal/change", "data": {"createdAt": 5, "updatedAt": 6, "goal": {"createdAt": 7}}},
            {"type": "goal/change", "data": {"createdAt": 0, "updatedAt": 0, "goal": {"createdAt": 7}}},
        ),
        (
            {"type": "subagent/catalog", "data": {"childCreatedAt": 5}},
            {"type": "subagent/catalog", "data": {"childCreatedAt": 0}},
        ),
        (
            {"type": "x", "sourceEventSeqs": [3, [5, 8]]},
            {"type": "x", "sourceEventSeqs": [3, 5, 6, 7, 8]},
        ),
        ({"type": "x", "sourceEventSeqs": [3, 1]}, {"type": "x", "sourceEventSeqs": [3, 1]}),
        (
            {"type": "llm/retry", "data": {"delayMs": 5}},
            {"type": "llm/retry", "data": {"delayMs": 5}},
        ),
        (
            {"type": "job/settled", "data": {"startedAt": 5, "finishedAt": 6}},
            {"type": "job/settled", "data": {"startedAt": 5, "finishedAt": 6}},
        ),
    ],
)
def test_clocks_of_a_record(record, expected):
    assert one(record) == expected


@pytest.mark.parametrize(
    "sources", [[3, [5, 4]], [[5, 8], 8], [[5, 8], 3], [[5]], ["3"], [[0, 2**53 - 1]], [-1], [1.5]]
)
def test_sources_that_are_none_are_refused(sources):
    with pytest.raises(FixtureError):
        one({"type": "x", "sourceEventSeqs": sources})
    with pytest.raises(FixtureError):
        project(log({"type": "session", "id": "i"}, {"type": "x", "sourceEventSeqs": sources}))


HEADER = '{"type":"session", "id":"i","seq":1}'
PROMPT = '{"type":"system/message","data":{"message":{"content":[{"type":"text","text":"S"},{"text":"T"}]}}}'
TOOLS = '{"type":"request/header","data":{"header":{"system":"S","tools":[{"name":"a"},"b"]}}}'


def test_prompts_and_tools_become_tokens_and_other_lines_stay_as_they_are():
    odd = '{"type" : "x", "data":1.0}'
    scrubbed = scrub("\n".join([HEADER, odd, "", PROMPT, TOOLS]))
    assert scrubbed.split("\n") == [
        HEADER,
        odd,
        "",
        PROMPT.replace('"S"', '"{{system}}"'),
        '{"type":"request/header","data":{"header":{"system":"S","tools":"{{tools}}"}}}',
    ]
    assert scrub(scrubbed) == scrubbed


def test_a_log_with_developer_messages_keeps_the_names_of_tools():
    scrubbed = scrub("\n".join([HEADER, TOOLS, '{"type":"developer/message"}']))
    assert scrubbed.split("\n")[1] == TOOLS.replace('{"name":"a"}', '"a"')
    assert scrub(scrubbed) == scrubbed
    token = TOOLS.replace('[{"name":"a"},"b"]', '"{{tools}}"')
    assert scrub("\n".join([HEADER, token, '{"type":"developer/message"}'])).split("\n")[1] == token


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"system/message","data":{"message":{"content":[]}}}',
        '{"type":"system/message","data":{"message":{"content":[{"type":"image"}]}}}',
        '{"type":"system/message","data":[]}',
        '{"type":"request/header","data":{"header":{"config":{}}}}',
        '{"type":"request/header"}',
    ],
)
def test_what_has_no_prompt_and_no_tools_stays(line):
    assert scrub(line) == line


def test_a_line_whose_tokens_are_there_already_keeps_its_spelling():
    spaced = TOOLS.replace('[{"name":"a"},"b"]', ' "{{tools}}"')
    prompt = PROMPT.replace('"S"', ' "{{system}}"')
    assert scrub(f"{HEADER}\n{spaced}\n{prompt}") == f"{HEADER}\n{spaced}\n{prompt}"


def test_a_projection_has_no_positions_but_its_streams_keep_their_clocks():
    positions = '"seq":1,"time":2,"seq0":3,"time0":4'
    row = f'{{"type":"x",{positions},"data":{{"stream":[{{"time":5}}]}},"sourceEventSeqs":[[0,1]]}}'
    put = '{"type":"feedback/message-put","data":{"item":{"createdAt":5,"updatedAt":6}}}'
    assert project("\n".join([HEADER, "", row, put])).split("\n") == [
        HEADER,
        '{"type":"x","data":{"stream":[{"time":5}]},"sourceEventSeqs":[0,1]}',
        '{"type":"feedback/message-put","data":{"item":{"createdAt":0,"updatedAt":0}}}',
        "",
    ]


@pytest.mark.parametrize("text", ["", "\n", '{"type":"x"}', '{"id":"i"}'])
def test_what_begins_with_no_header_is_no_snapshot(text):
    with pytest.raises(FixtureError):
        project(text)
    with pytest.raises(FixtureError):
        normalize_scenario([text])


def test_a_header_without_a_version_is_not_migrated():
    old = {name: value for name, value in v0_header().items() if name != "version"}
    (normalized,) = normalize_scenario([rows(old, *v0_events())])
    assert [row["type"] for row in records(normalized)].count("assistant/chunk") == 5
    (migrated,) = normalize_scenario([rows(v0_header(), *v0_events())])
    assert "assistant/chunk" not in migrated


def marker(version):
    return {
        "type": "session-log-deepseek/delivery-accepted",
        "data": {"sessionId": SESSION, "throughSeq": 1, "sessionFormatVersion": version},
    }


def test_the_generation_of_a_delivery_is_hidden_from_native_writers_alone():
    other = {"type": "x/y", "data": {"sessionFormatVersion": 4}, "ignorable": True}
    log = rows(v4_header(), *tool_events(), marker(4), marker(2), other)
    for native_writer, hidden in ((True, "{{sourceSessionFormatVersion}}"), (False, 4)):
        (normalized,) = normalize_scenario([log], native_writer=native_writer)
        versions = [row["data"].get("sessionFormatVersion") for row in records(normalized)[-3:]]
        assert versions == [hidden, 2, 4]


def scenario(session=SESSION, child=CHILD, cwd=CWD, number=0):
    """Logs of a parent and a child, with ids and a working directory of their own."""

    def renamed(text, by):
        for at in range(1, 10):
            text = text.replace(message_id(at), message_id(at + by))
        return text

    catalog = {
        "type": "subagent/catalog",
        "data": {"version": 0, "childId": child, "childCreatedAt": 5, "mode": "one-shot"},
    }
    parent = rows(v4_header(session, cwd), *tool_events(cwd), catalog)
    own = rows(v4_header(child, cwd, parentSession=session), *tool_events(cwd))
    return [renamed(parent, number), renamed(own, number + 50)]


def test_renaming_every_id_and_path_of_a_run_changes_nothing():
    expected = normalize_scenario(scenario())
    other = scenario(
        "bbbbbbbb-1111-4111-8111-000000000001", "cccccccc-1111-4111-8111-000000000001", "/home/u/w x", 500
    )
    assert other != scenario()
    assert normalize_scenario(other) == expected
    relocated = scenario(cwd="/var/folders/run")
    assert normalize_scenario(relocated, cwd="/elsewhere", cwd_aliases=["/var/folders/run"]) == expected
    assert expected[1].count("{{session:2}}") == 1
    assert normalize_scenario(expected) == expected


def test_the_numbers_of_ids_run_through_parent_and_child():
    parent, child = map(records, normalize_scenario(scenario()))
    assert parent[-1]["data"]["childId"] == child[0]["id"] == "{{session:2}}"
    assert child[0]["parentSession"] == "{{session:1}}"
