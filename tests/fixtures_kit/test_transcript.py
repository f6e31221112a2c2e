"""Transcripts and stored fixtures: those of the corpus are their own normal form, and each rule alone."""

from __future__ import annotations

import json

import pytest

from corpus import CORPUS
from dsh_lake.errors import FixtureError
from dsh_lake.fixtures.identity import redact_identities
from dsh_lake.fixtures.normalize import scrub
from dsh_lake.fixtures.store import carry_message_ids, store_fixture, tokenize_cwd
from dsh_lake.fixtures.strings import Context
from dsh_lake.fixtures.transcript import normalize_notifications, normalize_result, normalize_stdout
from tests.fixtures_kit.made import log
from tests.fixtures_kit.runs import CWD, message_id, records, rows, tool_events, v4_header

TREES = CORPUS / "snapshots"
STORED = {
    "stdout.expected.jsonl": normalize_stdout,
    "notifications.expected.jsonl": normalize_notifications,
    "result.expected.json": normalize_result,
}
CONTEXT = Context(CWD, legacy_ids=True)


@pytest.mark.parametrize("name", STORED)
def test_what_teams_have_stored_is_its_own_normal_form(name):
    files = sorted(TREES.rglob(name)) if TREES.is_dir() else []
    if not files:
        pytest.skip("the corpus of fixtures is not here")
    for file in files:
        text = file.read_bytes().decode()
        assert STORED[name](text, Context("{{cwd}}", legacy_ids=True)) == text


def frames(*given):
    return records(normalize_stdout("".join(json.dumps(frame) + "\n" for frame in given), CONTEXT))


def test_requests_and_their_responses_share_a_number():
    ids = [
        frame.get("id")
        for frame in frames({"id": "a"}, {"id": 7}, {"x": 1}, {"id": "a"}, {"id": "7"}, {"id": None})
    ]
    assert ids == [1, 2, None, 1, 3, None]


def test_only_the_id_of_the_frame_itself_is_renumbered():
    (frame,) = frames({"id": 5, "params": {"id": 5, "messageId": "m", "cwd": f"{CWD}/a"}})
    assert frame == {"id": 1, "params": {"id": 5, "messageId": "{{messageId}}", "cwd": "{{cwd}}/a"}}


@pytest.mark.parametrize("line", ["Listening on 8080", "{", "[" * 9_000])
def test_output_that_is_no_frame_is_an_error_with_its_line(line):
    with pytest.raises(FixtureError, match="line 3"):
        normalize_stdout('{"id":1}\n\n' + line + "\n", CONTEXT)


def test_events_in_notifications_lose_clocks_prompts_and_schemas():
    event = {"type": "request/header", "seq": 3, "time": 5, "data": {"header": {"tools": [{"name": "a"}]}}}
    text = json.dumps({"method": "session.event", "params": {"sessionId": message_id(1), "event": event}})
    (frame,) = records(normalize_notifications(text, CONTEXT))
    assert frame["params"] == {
        "sessionId": "{{sessionId}}",
        "event": {"type": "request/header", "seq": 3, "time": 0, "data": {"header": {"tools": "{{tools}}"}}},
    }


# --- storing a fixture ---------------------------------------------------------------------------


def tokenized(text, cwd=CWD):
    return records(tokenize_cwd(log({"type": "session", "id": "i", "cwd": cwd}, {"text": text})))[1]["text"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{CWD}/a", "{{cwd}}/a"),
        (f"/private{CWD}/a", "{{cwd}}/a"),
        ("/var/folders/x/run-7f3/a C:\\t\\run-7f3\\b", "{{cwd}}/a {{cwd}}\\b"),
        ("/var/run-7f3-2 /var/run-7f3.bak x/run-7f3", "/var/run-7f3-2 /var/run-7f3.bak x/run-7f3"),
        ("run-7f3", "run-7f3"),
    ],
)
def test_any_absolute_path_to_a_folder_of_that_name_is_the_working_directory(text, expected):
    assert tokenized(text) == expected


@pytest.mark.parametrize("cwd", ["/", "C:\\", "", None])
def test_a_working_directory_without_a_name_is_an_error(cwd):
    with pytest.raises(FixtureError, match="basename"):
        tokenized("x", cwd)


def test_a_stored_fixture_is_what_the_guards_ask_for():
    stored = store_fixture([rows(v4_header(), *tool_events())])
    assert redact_identities(stored) == stored == [scrub(text) for text in stored]
    assert CWD not in stored[0].replace(f"{CWD}-other", "")
    assert '"seq"' not in stored[0]
    (relocated,) = store_fixture([rows(v4_header(), *tool_events())], keeps_cwd=True)
    assert records(relocated)[0]["cwd"] == CWD


def test_messages_keep_the_ids_that_an_older_fixture_knows():
    def one(identity, content):
        return {
            "type": "user/message",
            "data": {"id": identity, "role": "user", "content": [content], "source": {}},
        }

    header = {"type": "session", "id": "i"}
    known = log(header, one("{{message:9}}", "a"), one("{{message:4}}", "b"), one("{{message:5}}", "b"))
    fresh = log(header, one("m1", "b"), one("m2", "a"), one("m3", "c"))
    carried = records(carry_message_ids(fresh, known))
    assert [row["data"]["id"] for row in carried[1:]] == ["m1", "{{message:9}}", "m3"]
