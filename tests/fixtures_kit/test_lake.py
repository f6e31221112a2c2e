"""Fixture trees in a lake: scenarios, roles, and the events of the roles that count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus import CORPUS, load
from dsh_lake import connect, scan
from tests.fixtures_kit.made import REQUEST, SYSTEM, edits, header, log, put, removes, sound_tree

USER = {
    "type": "user/message",
    "data": {"content": [{"type": "text", "text": "secret task"}], "role": "user", "id": "{{message:1}}"},
}


def rows(lake: Path, query: str, **options: Any) -> list[tuple[Any, ...]]:
    with connect(lake, **options) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def tree(tmp_path):
    return sound_tree(tmp_path / "snapshots")


@pytest.fixture
def lake(tmp_path):
    return tmp_path / "lake"


def test_scenarios_say_what_their_manifests_state(tree, lake):
    scan(tree, lake=lake)
    query = """
        select scenario_key, scenario, profile, header_class, is_pin, system_prompt_source,
            child_tool_schemas, is_workspace_final, session_source, retained_version, coverage, fault
        from scenarios order by scenario_key
    """
    pin = ("default", True, "acp/alpha", [])
    assert rows(lake, query) == [
        ("acp/alpha", "alpha", "acp", "default", True, None, [], False, None, None, None, None),
        ("acp/child", "child", "acp", "default", False, None, [1], False, None, None, None, None),
        ("sdk/old", "old", "sdk", *pin, False, None, 2, ["adjacent-migration"], None),
        ("session/beta", "beta", "headless", *pin, True, None, None, None, None),
        ("web/view", "view", "web", *pin, False, "../../session/beta/session.v4.jsonl", None, None, None),
    ]
    assert rows(lake, "select distinct folder from scenarios where scenario_key = 'web/view'") == [
        (str(tree / "web" / "view"),)
    ]


def test_roles_are_the_session_files_and_the_highest_of_each_is_read(tree, lake):
    summary = scan(tree, lake=lake)
    query = (
        "select scenario_key, ordinal, generation, is_selected, session_id from fixture_roles order by all"
    )
    assert rows(lake, query) == [
        ("acp/alpha", 0, 4, True, "{{session:1}}"),
        ("acp/child", 0, 4, True, "{{session:1}}"),
        ("acp/child", 1, 3, False, None),
        ("acp/child", 1, 4, True, "{{session:2}}"),
        ("sdk/old", 0, 2, True, "{{session:1}}"),
        ("session/beta", 0, 4, True, "{{session:1}}"),
    ]
    events = (
        "select r.scenario_key, r.ordinal, e.type from events as e join fixture_roles as r using (source_id)"
    )
    assert sorted(rows(lake, events)) == sorted(
        (key, ordinal, event["type"])
        for key, ordinal, logged in [
            ("acp/alpha", 0, [SYSTEM, REQUEST]),
            ("acp/child", 0, [SYSTEM, REQUEST]),
            ("acp/child", 1, [SYSTEM, REQUEST]),
            ("sdk/old", 0, [REQUEST]),
            ("session/beta", 0, [SYSTEM, REQUEST]),
        ]
        for event in logged
    )
    # Equal ids are no copies here; manifests are no logs, and older generations are told apart.
    assert (summary["sources"]["found"], summary["sources"]["superseded"]) == (6, 1)
    assert (summary["sources"]["duplicate"], summary["sessions"]) == (0, 5)
    assert summary["findings"] == []
    assert rows(lake, "select distinct kind from sources") == [("fixture",)]


def test_a_fixture_is_no_copy_of_a_session_of_a_home(tmp_path, lake):
    put(
        tmp_path,
        {
            "home/sessions/--w--/a/session.v4.jsonl": log({**header(), "id": "a"}),
            "snapshots/acp/x/session.v4.jsonl": log({**header(), "id": "a"}, SYSTEM, REQUEST),
            "snapshots/acp/x/snapshot.yml": "version: 1\nprofile: acp\n",
        },
    )
    summary = scan([tmp_path / "home", tmp_path / "snapshots"], lake=lake)
    assert summary["sources"]["duplicate"] == 0
    assert sorted(rows(lake, "select kind, status from sources")) == [("fixture", "ok"), ("session", "ok")]


def test_what_changes_in_a_tree_is_followed(tree, lake):
    first = scan(tree, lake=lake)
    again = scan(tree, lake=lake)
    assert (again["sources"]["unchanged"], again["sources"]["new"]) == (6, 0)
    edits("acp/alpha/snapshot.yml", "recording: live", "recording: authored")(tree)
    put(tree, {"acp/child/session.1.v5.jsonl": log(header(5))})
    removes("web/view/snapshot.yml")(tree)
    last = scan(tree, lake=lake)
    assert (last["sources"]["new"], last["sources"]["missing"], last["sources"]["rewritten"]) == (1, 0, 0)
    assert rows(lake, "select recording from scenarios where scenario_key = 'acp/alpha'") == [("authored",)]
    assert rows(lake, "select scenario_key from scenarios where missing_since is not null") == [("web/view",)]
    selected = "select scenario_key, generation from fixture_roles where ordinal = 1 and is_selected"
    assert rows(lake, selected) == [("acp/child", 5)]
    # And what was before is still there to be asked.
    before = rows(
        lake, "select recording from scenarios where scenario_key = 'acp/alpha'", as_of=first["scan_id"]
    )
    assert before == [("live",)]
    scan(tree, lake=lake, prune=True)
    assert rows(lake, "select count(*) from scenarios") == [(4,)]


def test_a_manifest_at_fault_is_a_finding_and_its_sessions_are_read(tree, lake):
    edits("sdk/old/snapshot.yml", "recording: live", "recording: SECRET-maybe\nx: [")(tree)
    summary = scan(tree, lake=lake)
    ((found),) = summary["findings"]
    assert (found["severity"], found["code"]) == ("warn", "manifest-invalid")
    assert found["path"].endswith("/sdk/old/snapshot.yml")
    assert "SECRET" not in found["message"]
    ((profile, fault),) = rows(lake, "select profile, fault from scenarios where scenario_key = 'sdk/old'")
    assert (profile, fault) == (None, found["message"])
    assert rows(lake, "select count(*) from events as e join fixture_roles as r using (source_id) "
                      "where r.scenario_key = 'sdk/old'") == [(1,)]  # fmt: skip


def test_without_content_no_free_text_of_a_manifest_is_kept(tree, lake):
    more = "profile: acp\nenvironment: {TOKEN: s3cret}\ninput: {task: s3cret}"
    edits("acp/alpha/snapshot.yml", "profile: acp", more)(tree)
    put(tree, {"acp/alpha/session.v4.jsonl": log(header(), SYSTEM, USER, REQUEST)})
    query = "select environment, task from scenarios where scenario_key = 'acp/alpha'"
    scan(tree, lake=lake, content=False)
    assert rows(lake, query) == [(None, None)]
    scan(tree, lake=lake, content=True, full=True)
    assert rows(lake, query) == [('{"TOKEN": "s3cret"}', "s3cret")]


def test_trees_of_the_corpus_have_the_roles_that_were_counted_elsewhere(lake):
    truths = CORPUS / "snapshots-truth"
    if not truths.is_dir():
        pytest.skip("the corpus of fixtures is not here")
    for name in ("migrated-0.2.1-rc.2", "recorded-0.2.1-rc.2"):
        truth = load(truths / f"{name}.json")
        scan(CORPUS / "snapshots" / name, lake=lake / name)
        expected = {
            (key, int(ordinal), generation, file == f"session{f'.{ordinal}' if ordinal != '0' else ''}"
             f"{f'.v{generation}' if generation else ''}.jsonl")
            for key, stated in truth["scenarios"].items()
            for ordinal, file in stated["selected"].items()
            for generation in stated["roles"][ordinal]
        }  # fmt: skip
        found = rows(lake / name, "select scenario_key, ordinal, generation, is_selected from fixture_roles")
        assert set(found) == expected
        assert len(found) == len(expected)
        counted = "select count(*) from events as e join fixture_roles as r using (source_id)"
        selected = [
            truth["sessions"][f"{key}/{file}"]["events"]
            for key, stated in truth["scenarios"].items()
            for file in stated["selected"].values()
        ]
        assert rows(lake / name, counted) == [(sum(selected),)]
        assert {key for (key,) in rows(lake / name, "select scenario_key from scenarios")} == set(
            truth["scenarios"]
        )
