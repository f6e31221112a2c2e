"""Strings without what belongs to a run: the kit's own cases, and each boundary that they leave open."""

from __future__ import annotations

import time

import pytest

from corpus import load
from dsh_lake.fixtures.strings import Context, Normalizer
from tests.fixtures_kit.made import ORACLE, needs_oracle

CASES = load(ORACLE / "normalized/strings.json")["cases"] if ORACLE.is_dir() else []
SPILL = "session-c22bc3f1d2af/8a7b6c5d4e3f"


def normalized(text, cwd="/tmp/run", **more):
    return Normalizer(Context(cwd, **more)).text(text)


@needs_oracle
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_cases_of_the_kit(case):
    context = Context(
        case["cwd"],
        case["cwdAliases"],
        case["sessionIds"],
        legacy_ids=case["identity"] == "legacy",
        native_paths=case["mode"] == "native",
    )
    value = {case["key"]: case["value"]}
    assert Normalizer(context).value(value) == {case["key"]: case["output"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/tmp/run", "{{cwd}}"),
        ("/tmp/run-2/a /tmp/run_2 /tmp/run2", "/tmp/run-2/a /tmp/run_2 /tmp/run2"),
        ("/tmp/run.bak /tmp/run. /tmp/run.", "/tmp/run.bak {{cwd}}. {{cwd}}."),
        ("x/tmp/run", "x/tmp/run"),
        ("[/tmp/run]{/tmp/run}='/tmp/run'", "[{{cwd}}]{{{cwd}}}='{{cwd}}'"),
        ("\u00a0/tmp/run\u2028/tmp/run", "\u00a0{{cwd}}\u2028{{cwd}}"),
        ("file:///tmp/run/a", "file://{{cwd}}/a"),
        ("profile:///tmp/run/a", "profile:///tmp/run/a"),
        ("/private/tmp/run /private/private/tmp/run", "{{cwd}} /private/private/tmp/run"),
        ("/private{{cwd}}/a", "{{cwd}}/a"),
        (r"{{cwd}}\a\b.txt c\d", r"{{cwd}}/a/b.txt c\d"),
        (r"{{cwd}} \a", r"{{cwd}} \a"),
    ],
)
def test_a_working_directory_counts_only_as_a_whole_path(text, expected):
    assert normalized(text) == expected


def test_the_longest_spelling_wins_and_aliases_get_private_forms_too():
    text = "/tmp/run/deep/x /private/var/run/y /tmp/run/z"
    expected = "{{cwd}}/x {{cwd}}/y {{cwd}}/z"
    assert normalized(text, cwd_aliases=["/tmp/run/deep", "/var/run", "", "/tmp/run"]) == expected


def test_native_paths_keep_their_separators():
    text = r"C:\w\a <path>x\y</path>"
    assert normalized(text, cwd=r"C:\w", native_paths=True) == r"{{cwd}}\a <path>x\y</path>"
    assert normalized(text, cwd=r"C:\w") == "{{cwd}}/a <path>x/y</path>"


def test_backslashes_outside_of_paths_survive():
    assert (
        normalized(r"\d+ </path> \x <path>a\b</path>\c<path>\e")
        == r"\d+ </path> \x <path>a/b</path>\c<path>\e"
    )
    assert (
        normalized("Additional instructions from: a\\b\r\nc\\d")
        == "Additional instructions from: a/b\r\nc\\d"
    )


@pytest.mark.parametrize("ending", ["", " ", ")", '"', '\\"', '\\\\"', ". Use read with offset/limit", "\n"])
def test_spill_locators_end_where_a_name_ends(ending):
    assert (
        normalized(f"/t/dsh-acp-snap-0123456ab/{SPILL}-o.log{ending}")
        == f"{{{{spillLocator:o.log}}}}{ending}"
    )


@pytest.mark.parametrize(
    "path",
    [
        f"/tmp/dsh-spill-abc/{SPILL}-o.log",
        f"/tmp/dsh-acp-snap-0123456zz/{SPILL}-o.log",
        f"/tmp/dsh-acp-snap-0123456ab/{SPILL}-o.log,",
        f"/tmp/dsh-acp-snap-0123456ab/{SPILL.upper()}-o.log",
        f"/var/dsh-acp-snap-0123456ab/{SPILL}-o.log",
    ],
)
def test_other_paths_are_no_spill_locators(path):
    assert normalized(path) == path


def test_a_spill_of_the_working_directory_is_found_after_its_token():
    assert normalized(f"/tmp/run/.spill/{SPILL}-o.log") == "{{spillLocator:o.log}}"


EVENT = (
    'Session s — t\nTarget event seq 4:\n```json\n{\n  "time": 17,\n  "x": {\n    "time": 18,\n  },\n'
    '  "time": 19\n}\n```\n\n  "time": 20,\n\n(Omitted 21 bytes. a)\n(Omitted 22 bytes. b)'
)


def test_only_the_clock_of_the_target_event_and_counts_after_blank_lines_go():
    expected = EVENT.replace("17,", "{{eventTime}},").replace("21 bytes", "{{eventOmittedBytes}} bytes")
    assert normalized(EVENT) == expected
    assert normalized("\n" + EVENT) == "\n" + EVENT


def test_a_target_that_was_cut_ends_at_the_notice():
    opening = "Session s — t\nTarget event seq 4:\n```json\n{\n"
    cut = opening + '  "time": 17,\n\n(Omitted 21 bytes. a)\n  "time": 18,\n'
    expected = cut.replace("17", "{{eventTime}}").replace("21", "{{eventOmittedBytes}}")
    assert normalized(cut) == expected


def test_values_are_walked_with_the_members_that_have_a_rule():
    value = {
        "path": "a\\b",
        "paths": "a\\b",
        "list": [{"messageId": 7}, {"messageId": "m"}],
        "update": {"sessionUpdate": "usage_update", "used": 5, "size": 6},
        "other": {"sessionUpdate": "usage_update", "used": True},
    }
    assert Normalizer(Context("/tmp/run", legacy_ids=True)).value(value) == {
        "path": "a/b",
        "paths": "a\\b",
        "list": [{"messageId": 7}, {"messageId": "{{messageId}}"}],
        "update": {"sessionUpdate": "usage_update", "used": "{{usedTokens}}", "size": 6},
        "other": {"sessionUpdate": "usage_update", "used": True},
    }


def test_legacy_ids_are_the_listed_sessions_and_every_uuid():
    text = "my-sid AAAAAAAA-0000-4000-8000-000000000001"
    assert normalized(text, session_ids=["my-sid", ""], legacy_ids=True) == "{{sessionId}} {{sessionId}}"
    assert normalized(text, session_ids=["my-sid"]) == text


@pytest.mark.parametrize(
    "text",
    [
        "session-" + "/" * 200_000,
        "\\" + "<path>" * 100_000,
        "{{cwd}}" + "\\a" * 100_000 + " \\",
        "session-" + "/tmp" * 50_000,
        "Session " + "—" * 200_000,
        "/tmp/run" * 20_000,
    ],
    ids=["slashes", "paths", "segments", "parents", "dashes", "cwds"],
)
def test_hostile_strings_take_time_in_proportion(text):
    begin = time.process_time()
    normalized(text)
    assert time.process_time() - begin < 2
