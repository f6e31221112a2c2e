"""Drift: the recorded pairs, every cause by a small change of its own, and laws."""

from __future__ import annotations

import json
import re

import pytest

import dsh_lake
from corpus import CORPUS, load
from dsh_lake import sqlassets
from dsh_lake.errors import UnreadableSource, UsageError
from tests.fixtures_kit.drifting import (
    GOAL,
    JOB,
    Sides,
    causes,
    event,
    events,
    log,
    put_fixture,
    put_run,
    result,
)
from tests.fixtures_kit.made import ORACLE, needs_oracle
from tests.fixtures_kit.runs import CHILD, CWD, SESSION, STEP_END, rows, user, v0_events, v0_header

CASES = load(ORACLE / "drift/index.json")["cases"] if ORACLE.is_dir() else []
RECORDED = CORPUS / "snapshots/recorded-0.2.1-rc.2"
FRESH = CORPUS / "snapshots-fresh"
CHANGED = {
    # What was changed in each script, read from its name and its texts.
    "fs-edit/drift-replacement": "tool-arguments-changed",
    "fs-write/drift-content": "tool-arguments-changed",
    "fs-write/drift-no-write": "tool-sequence-changed",
    "multi-turn-resume/drift-second-turn": "text-changed",
    "parallel-reads/drift-serial": "tool-sequence-changed",
    "text-turn/drift-answer": "text-changed",
}


@pytest.fixture
def sides(tmp_path):
    return Sides(tmp_path)


@pytest.fixture(scope="module")
def recorded():
    return dsh_lake.fixtures_drift(RECORDED, FRESH)


# -- the recorded pairs ------------------------------------------------------------------------------------


@needs_oracle
def test_each_pair_is_equal_or_drifted_as_recorded(recorded):
    found = {scenario["run"]: scenario for scenario in recorded.document()["scenarios"]}
    assert recorded.compared == len(CASES) == len(found)
    for case in CASES:
        run = found[f"{case['scenario']}/{case['variant']}"]
        assert run["scenario"] == f"session/{case['scenario']}"
        assert run["equal"] == (case["equal"] and case["workspaceEqual"])
        assert run["workspace_equal"] == case["workspaceEqual"]
        stated = [(one["role"], one["status"], one.get("firstDifferentLine")) for one in case["sessions"]]
        assert [(one["role"], one["status"], one["first_different_line"]) for one in run["roles"]] == stated


@needs_oracle
def test_no_repeat_is_called_a_change_and_every_change_is_told(recorded):
    told = {}
    for scenario in recorded.scenarios:
        (role, *others) = scenario.roles
        if scenario.run.endswith("/b"):
            assert {part.tier for part in scenario.differing} <= {"noise"}, scenario.run
        else:
            assert others == []
            told[scenario.run] = role.cause
    assert told == CHANGED
    assert recorded.exit_code == 2
    assert not recorded.is_equal


@needs_oracle
@pytest.mark.parametrize(
    ("name", "code"), [("fs-edit/b", 0), ("ptc-turn/b", 0), ("text-turn/drift-answer", 2)]
)
def test_one_scenario_with_one_run(name, code):
    drift = dsh_lake.fixtures_drift(RECORDED / "session" / name.split("/")[0], FRESH / name)
    assert (drift.exit_code, drift.compared) == (code, 1)


# -- what each difference comes from -----------------------------------------------------------------------


def changed(before, after):
    """The log with every occurrence of a text replaced by another."""
    text = log(events())
    assert before in text
    return [text.replace(before, after)]


def test_the_same_is_equal(sides):
    drift = sides.drift([log(events())], [log(events())])
    assert (drift.is_equal, drift.exit_code, drift.causes, causes(drift)) == (True, 0, [], [])


NOISE = [
    (JOB, "bash-0123456789abcdef", {"job-ids"}),
    ("1790000000100", "1790000000999", {"job-clocks"}),
    ('"delayMs":412', '"delayMs":977', {"retry-delay"}),
    (GOAL[10:], "aaa-1111-4111-8111-222222222222", {"stream-ids"}),
    ("UlXN5D/session-ca113bdef482/131c9594eb42", "6tMoFq/session-3b442b4aee07/d81f1ca0b3ce", {"spill-paths"}),
]


@pytest.mark.parametrize(("before", "after", "expected"), NOISE, ids=[str(case[2]) for case in NOISE])
def test_noise_is_named_and_ends_with_0(sides, before, after, expected):
    drift = sides.drift([log(events())], changed(before, after))
    (role,) = drift.document()["scenarios"][0]["roles"]
    assert (role["status"], role["tier"], role["is_noise"]) == ("different", "noise", True)
    assert (drift.document()["equal"], drift.exit_code) == (False, 0)
    assert set(causes(drift)) == expected


CHANGES = [
    ('"all done"', '"all donee"', "text-changed", "text"),
    ('"outputTokens":20', '"outputTokens":21', "usage-moved", "text"),
    (
        f'"{{\\"id\\":\\"{JOB}\\"}}"',
        f'"{{\\"id\\":\\"{JOB}\\",\\"wait\\":1}}"',
        "tool-arguments-changed",
        "tools",
    ),
    ('"name":"job_output"', '"name":"job_stop"', "tool-sequence-changed", "tools"),
    ('"isError":false', '"isError":true', "tool-outcome-changed", "tools"),
    (f"{JOB} done", f"{JOB} failed", "tool-result-changed", "text"),
    ('"call_2"', '"call_9"', "call-ids-changed", "text"),
    ('"model":"m"', '"model":"n"', "value-changed", "shape"),
    ('"retry":1', '"retry":1,"why":"busy"', "members-changed", "shape"),
    ('"kind":"completed"', '"kind":"failed"', "value-changed", "shape"),
    ('"sourceEventSeqs":[6]', '"sourceEventSeqs":[5]', "references-changed", "shape"),
    (f'{GOAL[:10]}","{GOAL[10:]}"', f'{GOAL[:12]}","{GOAL[12:]}"', "stream-cuts", "text"),
]


@pytest.mark.parametrize(("before", "after", "cause", "tier"), CHANGES, ids=[case[2] for case in CHANGES])
def test_a_change_is_told_by_its_gravest_cause(sides, before, after, cause, tier):
    drift = sides.drift([log(events())], changed(before, after))
    (role,) = drift.document()["scenarios"][0]["roles"]
    assert (role["cause"], role["tier"], role["is_noise"]) == (cause, tier, False)
    assert drift.exit_code == 2


def test_a_change_beside_noise_is_no_noise(sides):
    (noisy,) = changed(JOB, "bash-0123456789abcdef")
    drift = sides.drift([log(events())], [noisy.replace("all done", "nothing done")])
    assert drift.document()["scenarios"][0]["roles"][0]["cause"] == "text-changed"
    assert set(causes(drift)) == {"job-ids", "text-changed"}
    # In one and the same text, too.
    drift = sides.drift(
        [log(events())], [noisy.replace("bash-0123456789abcdef done", "bash-0123456789abcdef gone")]
    )
    assert drift.document()["scenarios"][0]["roles"][0]["cause"] == "tool-result-changed"


def test_an_id_that_stands_for_two_is_no_noise(sides):
    """The second call polls a job that is not the one that was started."""
    made = events()
    other = json.loads(json.dumps(made).replace(JOB, "bash-0123456789abcdef"))
    place = next(place for place, one in enumerate(other) if one["type"] == "job/registered")
    other[place] = json.loads(
        json.dumps(other[place]).replace("bash-0123456789abcdef", "bash-fedcba9876543210")
    )
    drift = sides.drift([log(made)], [log(other)])
    assert drift.document()["scenarios"][0]["roles"][0]["cause"] == "ids-crossed"
    assert drift.exit_code == 2


def test_what_only_looks_like_the_id_of_a_job_is_no_noise(sides):
    made, other = ([*events()] for _ in range(2))
    for records, digest in ((made, "0123456789abcdef"), (other, "fedcba9876543210")):
        place = next(place for place, one in enumerate(records) if one["type"] == "tool/result")
        records[place]["data"]["message"] = result("call_1", f"commit-{digest}", 4)
    drift = sides.drift([log(made)], [log(other)])
    assert drift.exit_code == 2


def test_more_and_fewer_events(sides):
    made = events()
    longer = [
        *made[:4],
        {**made[3], "data": {**made[3]["data"], "id": "bbbbbbbb-0000-4000-8000-000000000001"}},
        *made[4:],
    ]
    # The text of it is another, so that it is an event more and not one that moved.
    longer[4] = json.loads(json.dumps(longer[4]).replace("look into", "and look into"))
    drift = sides.drift([log(made)], [log(longer)])
    assert drift.document()["scenarios"][0]["roles"][0]["cause"] == "rows-added"
    assert (
        sides.drift([log(longer)], [log(made)]).document()["scenarios"][0]["roles"][0]["cause"]
        == "rows-removed"
    )
    typed = [
        *made[:6],
        event("session/title", title="T", messageSeqs=[3], source={"kind": "fallback"}),
        *made[6:],
    ]
    assert sides.drift([log(made)], [log(typed)]).scenarios[0].roles[0].cause == "new-event-type"
    assert sides.drift([log(typed)], [log(made)]).scenarios[0].roles[0].cause == "event-type-gone"


def test_the_same_events_in_another_order(sides):
    made = events()
    place = next(place for place, one in enumerate(made) if one["type"] == "llm/retry")
    turned = [*made[:place], made[place + 1], made[place], *made[place + 2 :]]
    drift = sides.drift([log(made)], [log(turned)])
    assert drift.scenarios[0].roles[0].cause == "order-changed"


def test_calls_that_are_no_longer_made_together(sides):
    """Both calls in one step, against one in each of two."""
    made = events()
    by_type = {}
    for one in json.loads(json.dumps(made)):
        by_type.setdefault(one["type"], []).append(one)
    (message, polling, _), calls, results = (
        by_type[kind] for kind in ("assistant/message", "tool/call", "tool/result")
    )
    message["data"]["message"]["content"] += polling["data"]["message"]["content"]
    for one in (calls[1], results[1]):
        one["data"]["step"] = 1
    first = next(place for place, one in enumerate(made) if one["type"] == "assistant/message")
    second = next(place for place, one in enumerate(made) if one["type"] == "turn/end")
    between = [one for one in made[first:second] if one["type"] in ("llm/retry", "job/registered")]
    together = [*made[:first], message, *between, *calls, *results, STEP_END, *made[second:]]
    drift = sides.drift([log(made)], [log(together)])
    assert drift.scenarios[0].roles[0].cause == "tool-sequence-changed"


# -- interruption ------------------------------------------------------------------------------------------


def interrupted(length, *last):
    """The first turn, interrupted after so many events and these."""
    made = [*events()[:length], *last]
    ends = [STEP_END] if any(one["type"] == "step/start" for one in made) else []
    return log([*made, *ends, event("turn/end", turn=1, reason={"kind": "interrupted"})])


def test_how_far_an_interrupted_turn_came_is_noise(sides):
    drift = sides.drift([interrupted(1)], [interrupted(5)])
    assert (causes(drift), drift.exit_code) == (["interruption-timing"], 0)
    assert sides.drift([interrupted(5)], [interrupted(1)]).exit_code == 0


def test_another_content_of_an_interrupted_turn_is_a_change(sides):
    other = interrupted(4).replace("look into", "do not look into")
    assert sides.drift([interrupted(5)], [other]).exit_code == 2
    # Both went on, each in its own way: that is no matter of time.
    more = {"type": "user/message", "data": user(11, "hurry"), "surfaceOp": "append"}
    assert sides.drift([interrupted(5)], [interrupted(4, more)]).exit_code == 2


def test_a_turn_that_was_not_interrupted_has_to_be_whole(sides):
    done = log(
        [
            *events()[:5],
            event("step/end", turn=1, step=1),
            event("turn/end", turn=1, reason={"kind": "completed"}),
        ]
    )
    assert sides.drift([done], [interrupted(5)]).exit_code == 2
    shorter = log(
        [
            *events()[:4],
            event("step/end", turn=1, step=1),
            event("turn/end", turn=1, reason={"kind": "completed"}),
        ]
    )
    assert sides.drift([done], [shorter]).exit_code == 2


# -- scenarios and roles -----------------------------------------------------------------------------------


def test_sessions_and_scenarios_that_are_missing_or_added(sides, tmp_path):
    child = log(events(), session=CHILD, parentSession=SESSION)
    drift = sides.drift([log(events()), child], [log(events())])
    assert [(one.status, one.cause) for one in drift.scenarios[0].roles] == [
        ("equal", None),
        ("missing", "role-missing"),
    ]
    drift = sides.drift([log(events())], [log(events()), child])
    assert [one.status for one in drift.scenarios[0].roles] == ["equal", "added"]
    put_fixture(tmp_path / "tree/session/one", [log(events())])
    put_fixture(tmp_path / "tree/session/two", [log(events())])
    put_run(tmp_path / "runs/one/x", [log(events())], scenario="one")
    put_run(tmp_path / "runs/three/x", [log(events())], scenario="three")
    drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "runs")
    assert [(one.scenario, one.run, one.roles[0].status) for one in drift.scenarios] == [
        ("session/one", "one/x", "equal"),
        ("session/two", None, "missing"),
        ("three/x", "three/x", "added"),
    ]
    assert (drift.compared, drift.exit_code) == (1, 2)


def test_runs_find_their_scenario_by_path_where_names_are_not_unique(tmp_path):
    for suite in ("acp", "sdk"):
        put_fixture(tmp_path / "tree" / suite / "one", [log(events())])
        put_run(tmp_path / "runs" / suite / "one/night", [log(events())])
        put_run(tmp_path / "stated" / suite / "one/night", [log(events())], scenario="one")
    put_run(tmp_path / "nobody's/one", [log(events())], scenario="one")
    for runs in ("runs", "stated"):
        drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / runs)
        assert [(one.scenario, one.run) for one in drift.scenarios] == [
            ("acp/one", "acp/one/night"),
            ("sdk/one", "sdk/one/night"),
        ]
        assert drift.is_equal
    # Which of two it is nobody can tell, so it is neither.
    drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "nobody's")
    assert [one.roles[0].status for one in drift.scenarios] == ["missing", "missing", "added"]
    # One against one needs no names.
    assert dsh_lake.fixtures_drift(tmp_path / "tree/acp/one", tmp_path / "runs/sdk").is_equal


def test_roots_come_before_children_then_by_time(tmp_path):
    """The order of a harvest, whatever the folders are called."""
    first, second = ("ffffffff-0000-4000-8000-00000000000" + digit for digit in "12")
    early = log(events(), session=second, parentSession="aa", createdAt=5)
    late = log(events()[:-6], session=first, parentSession="aa", createdAt=9)
    parent = log(events(), session="ffffffff-0000-4000-8000-000000000003", createdAt=20)
    put_run(tmp_path / "run", [parent, late, early])
    put_fixture(tmp_path / "fixture", [parent, early, late])
    assert dsh_lake.fixtures_drift(tmp_path / "fixture", tmp_path / "run").is_equal
    put_fixture(tmp_path / "other", [parent, late, early])
    assert dsh_lake.fixtures_drift(tmp_path / "other", tmp_path / "run").exit_code == 2


def test_nothing_compared_is_no_success(tmp_path):
    put_fixture(tmp_path / "a/session/one", [log(events())])
    put_run(tmp_path / "b/other/x", [log(events())], scenario="other")
    drift = dsh_lake.fixtures_drift(tmp_path / "a", tmp_path / "b")
    assert (drift.compared, drift.is_equal, drift.exit_code) == (0, False, 1)
    (tmp_path / "empty").mkdir()
    drift = dsh_lake.fixtures_drift(tmp_path / "empty", tmp_path / "empty")
    assert (drift.is_equal, drift.exit_code) == (False, 1)
    with pytest.raises(UnreadableSource):
        dsh_lake.fixtures_drift(tmp_path / "nowhere", tmp_path / "empty")


def test_a_torn_log_is_told_and_the_rest_is_compared(tmp_path):
    for name in ("one", "two"):
        put_fixture(tmp_path / f"tree/session/{name}", [log(events())])
        put_run(tmp_path / f"runs/{name}", [log(events())], scenario=name)
    (torn,) = (tmp_path / "runs/one").rglob("*.zstd")
    torn.write_bytes(torn.read_bytes()[:-5])
    drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "runs")
    assert [(one.roles[0].cause, one.is_equal) for one in drift.scenarios] == [
        ("unreadable", False),
        (None, True),
    ]
    assert (drift.exit_code, drift.compared) == (1, 1)


def test_a_link_out_of_a_side_is_not_followed(tmp_path):
    put_fixture(tmp_path / "tree/session/one", [log(events())])
    (tmp_path / "secret.jsonl").write_text(log(events()), "utf-8")
    (tmp_path / "other/session/one").mkdir(parents=True)
    (tmp_path / "other/session/one/session.v4.jsonl").symlink_to(tmp_path / "secret.jsonl")
    drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "other")
    assert (drift.scenarios[0].roles[0].cause, drift.exit_code) == ("unreadable", 1)


# -- other evidence ----------------------------------------------------------------------------------------


def test_workspaces_are_compared_where_both_sides_have_one(tmp_path):
    put_fixture(tmp_path / "tree/session/one", [log(events())], "workspace:", "  final: true")
    expected = tmp_path / "tree/session/one/workspace.expected"
    run = put_run(tmp_path / "runs/one", [log(events())], scenario="one")
    for folder in (expected, run / "workspace"):
        folder.mkdir()
        (folder / "a.txt").write_text("a")
    drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "runs")
    assert (drift.is_equal, drift.scenarios[0].is_workspace_equal) == (True, True)
    (run / "workspace/a.txt").write_text("b")
    drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "runs")
    assert (drift.exit_code, drift.scenarios[0].workspace_paths) == (2, ("a.txt",))
    assert [cause.cause for cause in drift.causes] == ["workspace-changed"]


def test_expected_outputs_are_compared_where_both_sides_have_them(tmp_path):
    for side in ("a", "b"):
        folder = put_fixture(tmp_path / side / "acp/one", [log(events())])
        (folder / "result.expected.json").write_text('{"stop":"end"}\n')
        number = 7 if side == "a" else 9
        (folder / "stdout.expected.jsonl").write_text(f'{{"id":{number},"result":{{}}}}\n')
    drift = dsh_lake.fixtures_drift(tmp_path / "a", tmp_path / "b")
    assert [(one.name, one.status) for one in drift.scenarios[0].outputs] == [
        ("result.expected.json", "equal"),
        ("stdout.expected.jsonl", "equal"),
    ]
    (tmp_path / "b/acp/one/result.expected.json").write_text('{"stop":"cancelled"}\n')
    drift = dsh_lake.fixtures_drift(tmp_path / "a", tmp_path / "b")
    assert [(one.status, one.cause) for one in drift.scenarios[0].outputs] == [
        ("different", "output-changed"),
        ("equal", None),
    ]


def test_prompts_and_schemas_of_a_run_are_compared_with_those_that_the_fixture_keeps(tmp_path):
    folder = put_fixture(tmp_path / "tree/session/one", [log(events())])
    (folder / "system-prompt.expected.md").write_text("You are a harness.\n")
    schemas = {"initial": [{"name": "bash", "description": "runs"}], "changes": []}
    (folder / "tool-schemas.expected.json").write_text(json.dumps(schemas, indent=2) + "\n")
    run = tmp_path / "runs/one"
    put_run(run, [log(events())], scenario="one")
    assert dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "runs").is_equal
    (folder / "system-prompt.expected.md").write_text("You are a harness!\n")
    (folder / "tool-schemas.expected.json").write_text(
        json.dumps({**schemas, "initial": []}, indent=2) + "\n"
    )
    drift = dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "runs")
    assert [(one.name, one.cause) for one in drift.scenarios[0].differing] == [
        ("system-prompt.expected.md", "output-changed"),
        ("tool-schemas.expected.json", "output-changed"),
    ]
    assert drift.exit_code == 2


def test_a_retained_scenario_is_compared_with_what_the_writer_gives_today(tmp_path):
    folder = put_fixture(tmp_path / "tree/session/one", [log(events()[:-6])])
    (folder / "writer.expected.jsonl").write_text(log(events()), "utf-8")
    put_run(tmp_path / "runs/one", [log(events())], scenario="one")
    assert dsh_lake.fixtures_drift(tmp_path / "tree", tmp_path / "runs").is_equal


def test_what_cannot_be_migrated_is_compared_through_the_tables(tmp_path):
    unknown = event("future/thing", value=1)
    for name, records in (("a", [*events(), unknown]), ("b", [*events(), unknown])):
        put_fixture(tmp_path / name / "session/one", [log(records)])
    drift = dsh_lake.fixtures_drift(tmp_path / "a", tmp_path / "b")
    (scenario,) = drift.scenarios
    assert (scenario.compared_by, scenario.is_equal) == ("tables", True)
    assert "future/thing" in scenario.note
    changed_text = log([*events(), unknown]).replace("all done", "none done")
    (tmp_path / "b/session/one/session.v4.jsonl").write_text(changed_text, "utf-8")
    drift = dsh_lake.fixtures_drift(tmp_path / "a", tmp_path / "b")
    assert (drift.exit_code, drift.scenarios[0].roles[0].cause) == (2, "text-changed")


# -- laws --------------------------------------------------------------------------------------------------

OPPOSITE = {
    "rows-added": "rows-removed",
    "rows-removed": "rows-added",
    "new-event-type": "event-type-gone",
    "event-type-gone": "new-event-type",
}


@pytest.mark.parametrize(("before", "after"), [case[:2] for case in [*NOISE, *CHANGES]])
def test_the_other_way_round_is_the_same_with_the_sign_turned(sides, before, after):
    first, second = [log(events())], changed(before, after)
    forth, back = sides.drift(first, second), sides.drift(second, first)
    assert signed(forth, "one") == signed(back, "one", turned=True)


@needs_oracle
def test_recorded_pairs_the_other_way_round(recorded):
    back = dsh_lake.fixtures_drift(
        FRESH / "interrupted-then-resumed/b", RECORDED / "session/interrupted-then-resumed"
    )
    name = "interrupted-then-resumed/b"
    assert signed(recorded, name) == signed(back, back.scenarios[0].scenario, turned=True)


def signed(drift, scenario, turned=False):
    """What differs, place by place; turned, as it is to be from the other side."""
    marks = {"added": "removed", "removed": "added"}
    found = []
    for row in drift.difference(scenario):
        sides = ("actual", "expected") if turned else ("expected", "actual")
        change = marks.get(row["change"], row["change"]) if turned else row["change"]
        told = [OPPOSITE.get(cause, cause) if turned else cause for cause in row["causes"]]
        if change != "same":
            digests = tuple(row[f"{side}_sha256"] for side in sides)
            found.append((change, row["type"], sorted(told), row["members"], digests))
    return sorted(found, key=repr)


def test_ids_that_a_migration_makes_of_a_session_are_no_change(tmp_path):
    """An old log gets a system message whose id is a digest of the session's."""
    old = rows(v0_header(), *v0_events())
    for name, text in (("a", old), ("b", old.replace(SESSION, CHILD))):
        (tmp_path / name / "session/one").mkdir(parents=True)
        (tmp_path / name / "session/one/session.jsonl").write_text(text, "utf-8")
    drift = dsh_lake.fixtures_drift(tmp_path / "a", tmp_path / "b")
    assert drift.scenarios[0].compared_by == "normalized"
    assert (causes(drift), drift.exit_code) == (["migration-ids"], 0)


def test_renaming_every_id_and_path_changes_nothing(sides):
    """Ids that the kit knows and the folder of the run; whoever compares them sees equal logs."""
    text = log(events())
    renamed = re.sub(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-([0-9a-f]{12})",
        lambda found: f"cccccccc-1111-4111-9111-{found[1]}",
        text,
    ).replace(CWD, "/home/someone/else")
    assert renamed != text
    drift = sides.drift([text], [renamed])
    # The folder beside it, which belongs to nobody's run, is written with the run's name in the log.
    assert set(causes(drift)) <= {"stream-ids", "tool-result-changed"}
    plain = renamed.replace("/home/someone/else-other", f"{CWD}-other")
    assert set(causes(sides.drift([text], [plain]))) <= {"stream-ids"}


# -- what is printed ---------------------------------------------------------------------------------------


def test_texts_are_given_out_only_when_they_are_asked_for(sides):
    drift = sides.drift([log(events())], changed("all done", "secret word"))
    assert "secret word" not in json.dumps([drift.document(), drift.difference("one")])
    (row,) = [row for row in drift.difference("one", with_text=True) if row["change"] == "changed"]
    assert "secret word" in row["actual"]
    assert row["members"] == ["data.message.content[].text"]
    with pytest.raises(UsageError):
        drift.difference("nothing")


def test_severities_come_from_a_file(sides, tmp_path):
    config = tmp_path / "drift.toml"
    config.write_text('[severity]\ntext = "warn"\nnoise = "fail"\n')
    text = [log(events())], changed("all done", "none done")
    assert sides.drift(*text, config=config).exit_code == 0
    noise = [log(events())], changed(JOB, "bash-0123456789abcdef")
    assert sides.drift(*noise, config=config).exit_code == 2
    for wrong in ('[severity]\nwords = "warn"', '[severity]\ntext = "never"', "[other]\na = 1", "text ="):
        config.write_text(wrong)
        with pytest.raises(UsageError):
            sides.drift(*text, config=config)


def test_every_cause_of_a_query_is_described(sides):
    drift = sides.drift([log(events())], [log(events())])
    known = {cause["cause"] for cause in drift.known_causes()}
    queries = sqlassets.load("drift")
    given = set()
    for name in ("drift_leaf_causes", "drift_changes"):
        given |= set(re.findall(r"(?:then|else) '([a-z]+(?:-[a-z]+)+)'", queries[name].text))
    assert {"job-ids", "order-changed"} <= given <= known
