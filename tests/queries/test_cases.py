"""Every case below this folder: see ``query_cases`` for what one is made of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dsh_lake.query import views
from query_cases import CaseError, Cases, differences

HERE = Path(__file__).resolve().parent
CASES = sorted(path.parent for path in HERE.glob("*/*/expect.jsonl"))


def _name(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


@pytest.fixture(scope="module")
def cases() -> Iterator[Cases]:
    made = Cases()
    yield made
    made.close()


@pytest.mark.parametrize("case", [pytest.param(case, id=_name(case)) for case in CASES])
def test_it_gives_the_expected_rows(case: Path, cases: Cases) -> None:
    found = cases.differences(case)
    if found:
        pytest.fail("\n".join([f"{_name(case)}:", *found]), pytrace=False)


def test_every_folder_is_a_case() -> None:
    folders = {path for path in HERE.glob("*/*") if path.is_dir()}
    assert folders - {*CASES, *HERE.glob("__pycache__/*")} == set()


def test_every_query_has_a_case() -> None:
    """Those of cassettes are tried on whole cassettes, against what the original tool says of them."""
    asked = {case.parent.name for case in CASES}
    about_cassettes = {"cassettes", "interactions", "ambiguous_groups"}
    names = {one["name"] for one in views() if not one["name"].startswith("cassette_")} - about_cassettes
    assert sorted(names - asked) == []


# -- the means themselves ----------------------------------------------------------------------------------


def test_rows_are_compared_as_bags_unless_they_have_an_order() -> None:
    rows = [{"n": 1, "of": "a"}, {"n": 2, "of": "b"}]
    assert list(differences(rows, rows[::-1], is_ordered=False)) == []
    assert len(list(differences(rows, rows[::-1], is_ordered=True))) == 4


def test_what_differs_is_named_and_nothing_else() -> None:
    expected = [{"n": 1, "of": "a"}, {"n": 2, "of": "b"}, {"n": 3, "of": None}]
    found = [{"n": 3, "of": None}, {"n": 2, "of": "c"}, {"n": 1, "of": "a"}, {"n": 1, "of": "a"}]
    assert list(differences(expected, found, is_ordered=False)) == [
        'row 3: of: expected "b", found "c"',
        'row too many: {"n": 1, "of": "a"}',
    ]
    assert list(differences(expected, found[:2], is_ordered=False))[-1] == 'missing row: {"n": 1, "of": "a"}'
    assert list(differences([{"is": True}], [{"is": 1}], is_ordered=True)) != []


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        (
            "usage.jsonl",
            '{"seq": 1, "kind": "message", "tokens": 5}',
            "usage.jsonl:1: usage has no column tokens",
        ),
        ("usage.jsonl", '# one\n{"seq": 1}', "usage.jsonl:2: kind may not be null"),
        ("usage.jsonl", '{"seq": 1, "kind": "message", "turn": "x"}', "usage.jsonl:1: Could not convert 'x'"),
        ("usage.jsonl", "{", "usage.jsonl:1: "),
        ("tokens.jsonl", "", "no stored table is called tokens.jsonl"),
        ("expect.jsonl", '{"seq": 1}\n{"line": 1}', "the same columns"),
    ],
)
def test_a_mistake_in_a_case_is_told_with_its_place(
    file: str, text: str, reason: str, cases: Cases, tmp_path: Path
) -> None:
    case = tmp_path / "usage" / "mistaken"
    case.mkdir(parents=True)
    (case / "expect.jsonl").write_text("")
    (case / file).write_text(text)
    with pytest.raises(CaseError, match=reason):
        cases.differences(case)
