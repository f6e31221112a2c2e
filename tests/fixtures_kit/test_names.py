"""File names of session files, and what their first line has to agree with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import load
from dsh_lake.errors import FixtureError
from dsh_lake.fixtures.header import agreed_generation
from dsh_lake.fixtures.names import parse_name, select_roles
from tests.fixtures_kit.made import ORACLE, needs_oracle

CASES = load(ORACLE / "session-filenames.json") if ORACLE.is_dir() else {}


@needs_oracle
@pytest.mark.parametrize("case", CASES.get("names", []), ids=lambda case: case["name"])
def test_names_are_read_as_the_kit_reads_them(case):
    if "error" in case:
        with pytest.raises(FixtureError) as refused:
            parse_name(case["name"])
        assert str(refused.value) == case["error"]
    else:
        file = parse_name(case["name"])
        stated = None if file is None else {"index": file.ordinal, "version": file.generation}
        assert stated == case["result"]


@needs_oracle
@pytest.mark.parametrize("case", CASES.get("roleSelection", []), ids=lambda case: " ".join(case["names"]))
def test_roles_are_selected_as_the_kit_selects_them(case):
    if "error" in case:
        with pytest.raises(FixtureError) as refused:
            select_roles(case["names"])
        assert str(refused.value) == case["error"]
    else:
        assert [file.name for file in select_roles(case["names"])] == case["selected"]


@needs_oracle
@pytest.mark.parametrize(
    "case", CASES.get("headerAgreement", []), ids=lambda case: case["name"] + case["content"][:40]
)
def test_names_and_headers_agree_as_the_kit_wants_it(case):
    if "error" in case:
        with pytest.raises(FixtureError) as refused:
            agreed_generation(case["name"], case["content"])
        assert str(refused.value) == case["error"]
    else:
        assert agreed_generation(case["name"], case["content"]) == case["version"]


@given(st.integers(0, 2**53 - 1), st.integers(0, 2**53 - 1))
def test_every_role_and_generation_has_a_name(ordinal, generation):
    name = f"session{f'.{ordinal}' if ordinal else ''}{f'.v{generation}' if generation else ''}.jsonl"
    assert parse_name(name) == (ordinal, generation, name)


@pytest.mark.parametrize(
    "name",
    [
        "session.9007199254740992.jsonl",  # 2^53
        "session.v9007199254740992.jsonl",
        "session.\u0661.jsonl",  # a digit, but not of ASCII
        "session.jsonl\n.jsonl",
        "session.01.jsonl",
        "session-1.jsonl",
    ],
)
def test_what_looks_like_a_session_file_and_is_none_is_refused(name):
    with pytest.raises(FixtureError, match=r"^invalid session fixture name: "):
        parse_name(name)


@pytest.mark.parametrize("name", ["session.jsonl\n", "session.jsonl.zstd", "seed.jsonl", "session", ""])
def test_other_names_are_nobodys_business(name):
    assert parse_name(name) is None


def test_generations_are_compared_as_numbers_and_chosen_for_each_role():
    names = ["session.v9.jsonl", "session.v10.jsonl", "session.1.v2.jsonl", "session.1.jsonl", "a.txt"]
    assert [file.name for file in select_roles(names)] == ["session.v10.jsonl", "session.1.v2.jsonl"]


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("session.v4.jsonl", '\r\n \n\ufeff\n{"type":"session","version":4}\n', 4),
        ("session.v4.jsonl", '{"type":"session","version":4.0}', 4),
        ("session.v4.jsonl", '{"type":"session","version":9,"version":4}\n', 4),
        ("session.1.jsonl", '{"type":"session"}\n', 0),
    ],
)
def test_headers_that_agree(name, text, version):
    assert agreed_generation(name, text) == version


NO_VERSION = "Session header version must be a non-negative safe integer"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("session.jsonl", '{"type":"session","version":-0}\n', NO_VERSION),
        ("session.jsonl", '{"type":"session","version":null}\n', NO_VERSION),
        ("session.jsonl", '{"type":"session","version":false}\n', NO_VERSION),
        ("session.jsonl", '{"type":"session","version":9007199254740992}\n', NO_VERSION),
        ("session.v1.jsonl", '{"type":"session","version":"1"}\n', NO_VERSION),
        ("session.v4.jsonl", '{"type":"session"}\n', "a versionless projected Session header is format v0"),
        ("session.jsonl", " \n\r\n", "session fixture is empty"),
        ("session.jsonl", '{"type":"session","version":NaN}\n', "session header contains invalid JSON"),
        ("session.jsonl", "[" * 100_000, "session header contains invalid JSON"),
        ("session.jsonl", "null\n", "first record must be a Session header"),
    ],
)
def test_headers_that_do_not_agree(name, text, message):
    with pytest.raises(FixtureError) as refused:
        agreed_generation(name, text)
    assert str(refused.value) == f"{name}: {message}"
