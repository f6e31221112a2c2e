"""Migration in memory: the catalog's verdicts and results, the product's own, and each rule alone."""

from __future__ import annotations

import hashlib
import json

import pytest

from corpus import CORPUS, load
from dsh_lake.errors import FixtureError, SessionFormatError, UnsupportedMigration
from dsh_lake.fixtures.log_files import read_log_file
from dsh_lake.fixtures.migrate import migrate
from tests.fixtures_kit.made import ORACLE, needs_oracle
from tests.fixtures_kit.runs import (
    REQUEST,
    SESSION,
    STEP,
    STEP_END,
    STOP,
    TURN,
    TURN_END,
    answer,
    chunk,
    records,
    rows,
    text,
    tool_events,
    user,
    v0_events,
    v0_header,
    v4_header,
)

INDEX = load(ORACLE / "migration/index.json")["rows"] if ORACLE.is_dir() else []
WITH_CHILDREN = load(ORACLE / "migration/with-children.json")["rows"] if ORACLE.is_dir() else []
CONTINUED = CORPUS / "sessions/migrated/v0-v3-v4/sessions/--tmp-demo-ws-migrated--"


def read(path):
    return (CORPUS / path).read_bytes().decode()


def outcome(source, target, **more):
    """What a migration gives: its digest, or the refusal."""
    try:
        return hashlib.sha256(migrate(source, target, **more).encode()).hexdigest()
    except FixtureError as error:
        return str(error)


@needs_oracle
@pytest.mark.parametrize("row", INDEX, ids=[row["source"].removeprefix("snapshots/") for row in INDEX])
def test_results_and_refusals_of_the_catalog(row):
    source = read(row["source"])
    given = {target: outcome(source, int(target)) for target in row["targets"]}
    assert given == {
        target: verdict.get("sha256") or verdict["message"] for target, verdict in row["targets"].items()
    }


@needs_oracle
@pytest.mark.parametrize("row", WITH_CHILDREN, ids=[row["source"].split("/")[-2] for row in WITH_CHILDREN])
def test_catalogs_that_are_made_of_the_childrens_logs(row):
    children = [read(child) for child in row["children"]]
    if "error" in row:
        assert outcome(read(row["source"]), 4, children=children) == row["error"]
    else:
        output = (ORACLE / "migration" / row["output"]).read_bytes().decode()
        assert migrate(read(row["source"]), 4, children=children) == output


@pytest.mark.parametrize(
    "session", ["84a77ddd-2a31-4a5e-a174-e63a26b374bd", "af6dc288-606d-437f-881f-ffaa59d0246d"]
)
def test_sessions_that_the_product_migrated_and_continued(session):
    if not CONTINUED.is_dir():
        pytest.skip("the corpus of sessions is not here")
    v0, v3, v4 = (read_log_file(CONTINUED / session / f"session{n}.jsonl.zstd") for n in ("", ".v3", ".v4"))
    children = [read_log_file(file) for file in CONTINUED.glob("*/session.jsonl.zstd")]
    children = [log for log in children if json.loads(log.split("\n")[0]).get("parentSession") == session]
    assert v3.startswith(migrate(v0, 3))
    assert v4.startswith(migrate(v3, 4, children=children))


# --- the worked example --------------------------------------------------------------------------

V0 = rows(v0_header(), *v0_events())


def body(log):
    return records(log)[1:]


def types(log):
    return [record["type"] for record in body(log)]


def test_v2_has_the_chunks_in_their_message_and_dense_positions():
    migrated = body(migrate(V0, 2))
    assert [record["seq"] for record in migrated] == list(range(7))
    message = migrated[4]
    assert message["type"] == "assistant/message"
    assert "sourceEventSeqs" not in message
    time = 1_790_000_000_000
    assert message["data"]["stream"] == [
        {
            "type": "chunk",
            "time": time + 4,
            "chunk": {"type": "block-start", "index": 0, "blockType": "text"},
        },
        {"type": "text-chunks", "time0": time + 5, "index": 0, "dt": [1, 1], "texts": ["a", "b", "c"]},
        {"type": "chunk", "time": time + 8, "chunk": STOP},
    ]


def test_v4_has_an_empty_prompt_and_one_that_replaces_it():
    migrated = body(migrate(V0))
    assert [record["type"] for record in migrated] == [
        "turn/start",
        "step/start",
        "system/message",
        "user/message",
        "system/message",
        "request/header",
        "assistant/message",
        "step/end",
        "turn/end",
    ]
    empty, prompt = migrated[2], migrated[4]
    assert (empty["data"]["message"]["content"], empty["surfaceOp"]) == ([], "append")
    assert prompt["data"]["message"]["content"] == text("S")
    assert prompt["surfaceOp"] == {"op": "replace", "startSeq": 2, "endSeq": 2}
    assert prompt["sourceEventSeqs"] == [2]
    assert prompt["data"]["message"]["source"] == {"kind": "system-prompt"}
    assert "system" not in migrated[5]["data"]["header"]
    key = f'["session-format-v2-to-v3","{SESSION}",1,"step/start"]'
    assert empty["data"]["message"]["id"] == "v2-to-v3-system-" + hashlib.sha256(key.encode()).hexdigest()


def test_v1_packs_runs_of_three_and_more():
    packed = {
        "type": "text-chunks",
        "seq0": 5,
        "time0": 1_790_000_000_005,
        "data": {"turn": 1, "step": 1, "index": 0, "dt": [1, 1], "texts": ["a", "b", "c"]},
    }
    assert packed in body(migrate(V0, 1))
    two = [event for event in v0_events() if event != chunk(type="text-delta", index=0, text="c")]
    two[8]["sourceEventSeqs"] = [4, 5, 6, 7]
    assert types(migrate(rows(v0_header(), *two), 1)).count("assistant/chunk") == 4


def test_a_packed_row_and_its_members_are_one():
    assert migrate(migrate(V0, 1)) == migrate(V0)


def test_projected_rows_are_completed_with_positions_and_time_zero():
    projected = [{"type": "session"} | v0_header(), *({**event} for event in v0_events())]
    log = "".join(json.dumps(record) + "\n" for record in projected)
    migrated = body(migrate(log))
    assert [(record["seq"], record["time"]) for record in migrated] == [(seq, 0) for seq in range(9)]


def test_tokens_of_a_fixture_are_put_back():
    events = v0_events()
    events[3] = json.loads(json.dumps(REQUEST))
    events[3]["data"]["header"]["tools"] = "{{tools}}"
    header, *migrated = records(migrate(rows(v0_header() | {"cwd": "{{cwd}}/a"}, *events)))
    assert header["cwd"] == "{{cwd}}/a"
    assert migrated[5]["data"]["header"]["tools"] == "{{tools}}"


def test_names_of_tools_become_definitions():
    events = v0_events()
    events[3] = json.loads(json.dumps(REQUEST))
    events[3]["data"]["header"]["tools"] = ["bash"]
    tools = body(migrate(rows(v0_header(), *events)))[5]["data"]["header"]["tools"]
    assert tools == [{"name": "bash", "description": "", "parameters": {}}]


def test_a_log_of_todays_generation_stays_as_it_is():
    log = rows(v4_header(), *tool_events())
    assert migrate(log) == log


# --- single rules --------------------------------------------------------------------------------


def test_events_between_chunks_go_before_the_message_that_takes_them():
    events = v0_events()
    note = {"type": "plan/mode", "data": {"active": True}}
    events.insert(9, note)
    assert types(migrate(rows(v0_header(), *events), 2))[4:6] == ["plan/mode", "assistant/message"]
    events = v0_events()
    del events[9]
    events.insert(9, note)
    assert types(migrate(rows(v0_header(), *events), 2))[4:6] == ["assistant/attempt", "plan/mode"]
    events = v0_events()
    events.insert(6, note)
    events[10]["sourceEventSeqs"] = [4, 5, 7, 8, 9]
    assert types(migrate(rows(v0_header(), *events), 2))[4:6] == ["plan/mode", "assistant/message"]


def test_a_message_that_cites_nothing_leaves_the_chunks_to_an_attempt():
    events = v0_events()
    events[9] = {**events[9], "sourceEventSeqs": []}
    migrated = body(migrate(rows(v0_header(), *events), 2))
    assert [record["type"] for record in migrated][4:6] == ["assistant/attempt", "assistant/message"]
    assert migrated[5]["data"]["stream"] == []
    assert len(migrated[4]["data"]["stream"]) == 3


def test_chunks_after_a_finish_are_another_attempt():
    events = v0_events()
    failed = [chunk(type="text-delta", index=0, text="a"), chunk(type="finish", reason={"kind": "error"})]
    events[4:4] = failed
    events[11] = {**events[11], "sourceEventSeqs": [6, 7, 8, 9, 10]}
    migrated = body(migrate(rows(v0_header(), *events), 2))
    assert [record["type"] for record in migrated][4:6] == ["assistant/attempt", "assistant/message"]
    assert migrated[4]["time"] == 1_790_000_000_005
    assert [len(record["data"]["stream"]) for record in migrated[4:6]] == [2, 3]


def test_a_prompt_replaces_the_one_before_only_where_it_differs():
    def request(prompt):
        header = {"config": {"provider": "p", "model": "m"}, **({"system": prompt} if prompt else {})}
        return {"type": "request/header", "data": {"header": header, "reason": "change"}}

    prompts = ["S", "T", "T", None, None]
    log = rows(v0_header(), *v0_events()[:4], *map(request, prompts))
    migrated = [record for record in body(migrate(log)) if record["type"] == "system/message"]
    assert [record["data"]["message"]["content"] for record in migrated] == [[], text("S"), text("T"), []]
    replaced = [record["surfaceOp"] for record in migrated[1:]]
    heads = [record["seq"] for record in migrated[:-1]]
    assert replaced == [{"op": "replace", "startSeq": seq, "endSeq": seq} for seq in heads]


@pytest.mark.parametrize("sources", [[4, 5, 6, 7], [4, 5, 6, 7, 8, 2], [8, 7, 6, 5, 4], None])
def test_a_message_that_cites_other_chunks_is_refused(sources):
    events = v0_events()
    events[9] = {name: value for name, value in events[9].items() if name != "sourceEventSeqs"}
    if sources is not None:
        events[9]["sourceEventSeqs"] = sources
    with pytest.raises(UnsupportedMigration):
        migrate(rows(v0_header(), *events), 2)


def test_references_follow_their_events_and_never_point_to_chunks():
    migrated = body(migrate(rows(v0_header(), *v0_events()[:10], title([2]), *v0_events()[10:])))
    assert migrated[7]["data"]["messageSeqs"] == [3]
    done = {"type": "command/done", "data": {"commandId": "c", "kind": "success", "sourceEventSeq": 5}}
    with pytest.raises(UnsupportedMigration, match="seq 5"):
        migrate(rows(v0_header(), *v0_events()[:10], done, *v0_events()[10:]), 2)


def test_a_turn_that_was_left_open_is_ended_as_interrupted():
    spliced = {
        "type": "agent/inbox/spliced",
        "data": {"target": "next-turn", "start": 0, "inserted": [user(5, "again")]},
    }
    events = [*v0_events()[:-1], spliced, {"type": "turn/start", "data": {"turn": 2}}]
    migrated = body(migrate(rows(v0_header(), *events), 2))
    assert migrated[-2]["type"] == "turn/end"
    assert migrated[-2]["data"] == {"turn": 1, "reason": {"kind": "interrupted"}}
    assert migrated[-1]["seq"] == migrated[-2]["seq"] + 1
    nothing = {"type": "agent/inbox/spliced", "data": {"target": "next-turn", "start": 0, "inserted": []}}
    for before in ([], [nothing]):
        without = [*v0_events()[:-1], *before, {"type": "turn/start", "data": {"turn": 2}}]
        with pytest.raises(SessionFormatError):
            migrate(rows(v0_header(), *without), 2)


@pytest.mark.parametrize("own", [0, 1])
def test_an_inherited_part_ends_with_a_marker(own):
    seed = {"type": "session/end-seed", "data": {}}
    again = [{"type": "turn/start", "data": {"turn": 2}}]
    log = rows(v0_header(seedLength=12), *v0_events(), *([seed] * own), *again)
    header, *migrated = records(migrate(log, 2))
    assert header["isSeeded"] is True
    assert [record["type"] for record in migrated][-2:] == ["session/end-seed", "turn/start"]
    assert migrated[-2]["data"] == {"inherited": True}
    assert migrated[-2]["time"] == 1_790_000_000_012


def test_a_wholly_inherited_log_ends_with_the_marker_and_a_cut_beyond_it_is_refused():
    migrated = body(migrate(rows(v0_header(seedLength=12), *v0_events()), 2))
    assert migrated[-1]["type"] == "session/end-seed"
    with pytest.raises(UnsupportedMigration):
        migrate(rows(v0_header(seedLength=13), *v0_events()), 2)
    with pytest.raises(UnsupportedMigration):
        migrate(rows(v0_header(seedLength=6), *v0_events()), 2)


def test_old_names_and_shapes_become_the_released_ones():
    events = [
        {"type": "turn/start", "data": {"turn": 1, "trigger": {"kind": "message"}}},
        STEP,
        {"type": "user/message", "data": {"content": [], "source": {"kind": "user"}}, "surfaceOp": "append"},
        {
            "type": "steering/message",
            "data": {"turn": 1, "content": [], "source": {"kind": "user"}},
            "surfaceOp": "append",
        },
        {
            "type": "assistant/message",
            "data": {"turn": 1, "step": 1, "content": [], "provenance": {"provider": "p", "model": "m"}},
            "sourceEventSeqs": [],
            "surfaceOp": "append",
        },
        STEP_END,
        {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "error", "step": 1, "message": "no"}}},
    ]
    migrated = [record["data"] for record in body(migrate(rows(v0_header(), *events), 1))]
    assert migrated[0] == {"turn": 1}
    assert migrated[2]["id"] == f"legacy-message:{SESSION}:2"
    assert migrated[3] == {
        "content": [],
        "source": {"kind": "user"},
        "id": f"legacy-message:{SESSION}:3",
        "role": "user",
    }
    assert migrated[4]["message"]["source"] == {"provider": "p", "model": "m", "kind": "model"}
    assert migrated[6]["reason"] == {"kind": "error", "error": {"message": "no", "code": "UNKNOWN"}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"kind": "aborted"}, {"kind": "aborted", "reason": {"kind": "legacy"}}),
        ({"kind": "disposed"}, {"kind": "aborted", "reason": {"kind": "disposed"}}),
        (
            {"kind": "error", "step": 1, "failure": {"message": "m", "code": "C"}},
            {"kind": "error", "error": {"message": "m", "code": "C"}},
        ),
        (
            {"kind": "error", "step": 1, "message": "m", "code": "C"},
            {"kind": "error", "error": {"message": "m", "code": "C"}},
        ),
    ],
)
def test_old_reasons_of_an_end(old, new):
    events = [*v0_events()[:-1], {"type": "turn/end", "data": {"turn": 1, "reason": old}}]
    assert body(migrate(rows(v0_header(), *events), 1))[-1]["data"]["reason"] == new


RETRY = {
    "turn": 1,
    "step": 1,
    "provider": "p",
    "mode": "always",
    "policyKey": "k",
    "retry": 1,
    "delayMs": 5,
    "failure": {"message": "m", "code": "C"},
}


def test_retries_without_an_id_share_the_one_of_their_chain():
    events = [
        *v0_events()[:4],
        {"type": "llm/retry", "data": RETRY},
        {"type": "llm/retry", "data": {**RETRY, "retry": 2}},
    ]
    migrated = body(migrate(rows(v0_header(), *events)))
    ids = [record["data"]["retryId"] for record in migrated if record["type"] == "llm/retry"]
    assert ids == [f"legacy-retry:{SESSION}:4"] * 2


def compaction(span):
    summary = {
        "summary": text("s"),
        "shadowedRange": {"start": span[0], "end": span[-1]},
        "shadowedSeqs": list(span),
        "shadowedTokenCount": 3,
        "provider": "p",
        "model": "m",
    }
    checkpoint = user(7, "earlier: s", kind="plugin", plugin="compact")
    return [
        {"type": "compact/start", "data": {"turn": 1}},
        {"type": "compact/summary", "data": summary},
        {
            "type": "user/message",
            "data": checkpoint,
            "sourceEventSeqs": list(span),
            "surfaceOp": {"op": "replace", "start": span[0], "end": span[-1]},
        },
        {"type": "compact/end", "data": {"turn": 1}},
    ]


def test_a_compaction_without_an_id_gets_one_and_its_references_follow():
    log = rows(v0_header(), *v0_events()[:10], *compaction([2]), *v0_events()[10:])
    migrated = body(migrate(log))
    start, summary, checkpoint, end = migrated[7:11]
    identity = f"legacy-compaction:{SESSION}:10"
    assert [row["data"].get("compactionId") for row in (start, summary, end)] == [identity] * 3
    assert checkpoint["data"]["source"] == {"kind": "compact-checkpoint", "compactionId": identity}
    assert checkpoint["surfaceOp"] == {"op": "replace", "startSeq": 3, "endSeq": 3}
    assert summary["data"]["shadowedSeqs"] == checkpoint["sourceEventSeqs"] == [3]


def test_a_compaction_of_what_is_not_on_the_surface_is_refused():
    log = rows(v0_header(), *v0_events()[:10], *compaction([3]), *v0_events()[10:])
    with pytest.raises(SessionFormatError):
        migrate(log)


def test_tool_results_get_the_role_of_their_own_and_keep_what_has_no_name():
    call = {"type": "tool-call", "id": "c", "name": "bash", "arguments": "{}"}
    events = [
        *v0_events()[:9],
        {
            "type": "assistant/message",
            "data": {"turn": 1, "step": 1, "message": answer([call])},
            "sourceEventSeqs": [4, 5, 6, 7, 8],
            "surfaceOp": "append",
        },
        {"type": "tool/call", "data": {"turn": 1, "step": 1, "callId": "c", "name": "b", "arguments": "{}"}},
        {
            "type": "tool/result",
            "data": {"turn": 1, "step": 1, "callId": "c", "content": text("x"), "isError": True},
            "sourceEventSeqs": [10],
            "surfaceOp": "append",
        },
        STEP_END,
        TURN_END,
    ]
    wrapped = body(migrate(rows(v0_header(), *events), 3))[8]["data"]["message"]
    block = {"type": "tool-result", "toolCallId": "c", "content": text("x"), "isError": True}
    assert wrapped == {
        "id": f"legacy-message:{SESSION}:11",
        "role": "user",
        "content": [block],
        "source": {"kind": "tool", "callId": "c"},
    }
    v3 = migrate(rows(v0_header(), *events), 3).replace('"isError":true', '"isError":true,"more":1')
    assert body(migrate(v3))[8]["data"]["message"] == {
        "role": "tool",
        "source": {"kind": "tool", "callId": "c"},
        "toolCallId": "c",
        "content": text("x"),
        "isError": True,
        "id": f"legacy-message:{SESSION}:11",
        "plugin:result:more": 1,
    }
    nested = v3.replace('"content":[{"type":"text","text":"x"}]', '"content":[{"type":"tool-result"}]')
    with pytest.raises(UnsupportedMigration):
        migrate(nested)


@pytest.mark.parametrize(
    ("plugin", "kind"),
    [
        ("tools-code-mode", "ptc-mode"),
        ("dsh-compaction-basic", "compact-basic"),
        ("@deepseek-ai/dsh-system-prompt", "runtime-context"),
        ("plan-mode", "plan-mode"),
        ("goal", "goal"),
        ("my-own", "plugin:my-own"),
    ],
)
def test_plugins_become_kinds(plugin, kind):
    events = v0_events()
    events[2] = {**events[2], "data": user(1, "hi", kind="plugin", plugin=plugin, form="notice")}
    assert body(migrate(rows(v0_header(), *events)))[3]["data"]["source"] == {"kind": kind, "form": "notice"}


def test_ignorable_events_of_v3_are_kept_under_another_name():
    v3 = migrate(V0, 3)
    unknown = {"type": "x/y", "seq": 9, "time": 1, "data": None, "ignorable": True}
    assert body(migrate(v3 + json.dumps(unknown) + "\n"))[-1]["type"] == "plugin:x/y"
    del unknown["ignorable"]
    with pytest.raises(SessionFormatError):
        migrate(v3 + json.dumps(unknown) + "\n")


def changed(*path, to=None, event=2):
    """The worked example with one member of one event changed, or with ``to=None`` gone."""
    events = json.loads(json.dumps(v0_events()))
    place = events[event]
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return rows(v0_header(), *events)


PREFIX = "@deepseek-ai/dsh-session-format-v0-to-v1 refuses this format v0 Session: "


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (changed("data", "more", to=1), PREFIX + 'user/message 2 data has unexpected member "more"'),
        (changed("data", "source"), PREFIX + 'user/message 2 data lacks required member "source"'),
        (
            changed("data", "step", to=-1, event=1),
            PREFIX + "step/start 1 step must be a non-negative safe integer",
        ),
        (changed("data", to=[], event=1), PREFIX + "step/start 1 data must be a JSON object"),
        (
            changed("data", "reason", to="later", event=3),
            PREFIX + "request/header 3 reason must be one of initial, resume, change, series",
        ),
        (
            changed("type", to="context/message"),
            'format v0 contains unknown historical event type "context/message" at seq 2; '
            "migration refuses unknown historical events even when ignorable",
        ),
        (
            changed("type", to="request/header-delta"),
            f'session "{SESSION}" contains unsupported legacy request/header-delta event at seq 2',
        ),
        (
            changed("data", "source", to={"kind": "workspace-instructions"}),
            "cannot safely transform unclassified message source",
        ),
        (
            changed("surfaceOp"),
            PREFIX.replace("v0-to-v1", "v2-to-v3").replace("v0 S", "v2 S")
            + "user/message requires surfaceOp",
        ),
    ],
)
def test_refusals_in_the_catalogs_words(log, message):
    with pytest.raises(UnsupportedMigration) as refusal:
        migrate(log)
    assert str(refusal.value) == message


def test_a_surface_before_the_first_step_has_no_v3_form_but_a_v2_form():
    events = v0_events()
    early = rows(v0_header(), events[0], events[2], events[1], *events[3:])
    assert types(migrate(early, 2))[1] == "user/message"
    with pytest.raises(UnsupportedMigration, match="surface before first step"):
        migrate(early, 3)


def test_the_first_refusal_on_the_way_is_told_not_the_first_of_the_first_step():
    events = v0_events()
    log = rows(v0_header(), events[0], events[2], {"type": "mode/set", "data": {}}, *events[3:])
    with pytest.raises(UnsupportedMigration, match="mode/set"):
        migrate(log, 2)
    with pytest.raises(UnsupportedMigration, match="surface before first step"):
        migrate(log, 3)


def title(seqs):
    data = {"title": "t", "messageSeqs": seqs, "source": {"kind": "fallback"}}
    return {"type": "session/title", "data": data}


def native(*changes):
    """The v4 log with events replaced: pairs of position and event, or None for gone."""
    events = tool_events()
    for at, event in changes:
        events[at] = event
    return rows(v4_header(), *[event for event in events if event is not None])


@pytest.mark.parametrize(
    "log",
    [
        native((0, None)),
        native((0, {"type": "turn/start", "data": {"turn": 2}})),
        native((1, {"type": "step/start", "data": {"turn": 1, "step": 2}})),
        native((8, None)),
        native((7, None)),
        native((6, None)),
        native((6, {**tool_events()[6], "data": {**tool_events()[6]["data"], "callId": "call_2"}})),
        native((3, {**tool_events()[3], "surfaceOp": {"op": "replace", "startSeq": 2, "endSeq": 2}})),
        native((3, {**tool_events()[3], "surfaceOp": {"op": "replace", "startSeq": 0, "endSeq": 2}})),
        native((3, {**tool_events()[3], "surfaceOp": {"op": "replace", "start": 2, "end": 2}})),
        native((9, {"type": "session/end-seed", "data": {"inherited": True}})),
        native((9, {"type": "unheard/of", "data": {}})),
        native((9, title([2]))),
        native((9, title([]))),
        native((9, {"type": "llm/retry", "data": {**RETRY, "retryId": "r", "retry": 2}})),
    ],
)
def test_a_log_of_todays_generation_that_its_rules_do_not_allow(log):
    with pytest.raises(SessionFormatError):
        migrate(log)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"version": 5}, "5"),
        ({"version": -1}, "Session format version must be a non-negative safe integer"),
        ({"version": "0"}, "Session format version must be a non-negative safe integer"),
        ({"cwd": "run"}, "format v0 header cwd must be absolute"),
        ({"more": 1}, 'released v0 physical header has unexpected member "more"'),
        ({"id": ""}, "format v0 header id must be a non-empty string"),
    ],
)
def test_headers_that_are_refused(header, message):
    with pytest.raises(SessionFormatError, match=message.replace("(", "\\(")):
        migrate(rows(v0_header() | header))


def test_depth_is_taken_for_none_in_v0_alone():
    header = v0_header()
    del header["delegationDepth"]
    assert records(migrate(rows(header)))[0]["delegationDepth"] == 0
    with pytest.raises(SessionFormatError, match="delegationDepth"):
        migrate(rows(header | {"version": 1}))


@pytest.mark.parametrize("source", [2, 3, 99])
def test_an_event_comes_from_earlier_ones(source):
    events = v0_events()
    events[2] = {**events[2], "sourceEventSeqs": [source]}
    with pytest.raises(SessionFormatError, match="sourceEventSeqs exceeds its event seq"):
        migrate(rows(v0_header(), *events))


def test_complete_and_projected_rows_do_not_mix():
    lines = V0.splitlines()
    lines[3] = json.dumps({name: value for name, value in json.loads(lines[3]).items() if name != "time"})
    with pytest.raises(SessionFormatError, match="line 4"):
        migrate("\n".join(lines))
    lines[3] = json.dumps({"type": "plan/mode", "data": {"active": True}})
    with pytest.raises(SessionFormatError, match="line 4"):
        migrate("\n".join(lines))


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"x","seq":2,"time":0,"data":' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"type":"x","seq":' + "9" * 5_000 + ',"time":0,"data":{}}',
        '{"type":"x","seq":2,"time":1e999,"data":{}}',
        '{"type":"x","seq":2,"time":0,"data":{},"sourceEventSeqs":[[0,9007199254740991]]}',
        '{"type":["x"],"seq":2,"time":0,"data":{}}',
        '{"type":"user/message","seq":2,"time":0,"data":{"source":{"kind":["x"]}}}',
        '{"seq":2,"time":0,"data":{}}',
        "\ufeff{}",
    ],
    ids=["deep", "long", "infinite", "range", "type", "kind", "untyped", "bom"],
)
@pytest.mark.parametrize("version", [0, 4])
def test_hostile_rows_are_refused_by_errors_of_our_own(line, version):
    header = v0_header() if version == 0 else v4_header()
    with pytest.raises(FixtureError):
        migrate(rows(header, TURN, STEP) + line + "\n")
    with pytest.raises(FixtureError):
        migrate(line)
    with pytest.raises(FixtureError):
        migrate("")
