"""Numbers and characters as the original shows them."""

from __future__ import annotations

import json

import pytest

from dsh_lake.canonical import parse_json
from dsh_lake.cassette.terminal import json_document, one_decimal, printable
from dsh_lake.records.cassette_checks import js_string
from dsh_lake.records.cassette_dates import is_date
from tests.cassette.cases import KEPT, vectors


@pytest.mark.parametrize("pairs", vectors("tofixed1"))
def test_one_decimal(pairs):
    assert [one_decimal(float(number)) for number, _ in pairs] == [text for _, text in pairs]


@pytest.mark.parametrize(
    ("number", "text"), [(0.25, "0.3"), (0.35, "0.3"), (-0.04, "-0.0"), (0, "0.0"), (1e21, "1e+21")]
)
def test_one_decimal_at_ties_and_ends(number, text):
    assert one_decimal(number) == text


def escaped_code_points():
    ranges = json.loads((KEPT / "vectors" / "escaped_ranges.json").read_text())["ranges"]
    return {code for first, last in ranges for code in range(first, last + 1)}


def test_exactly_the_listed_code_points_are_escaped():
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    changed = {ord(character) for character in every if printable(character) != character}
    assert changed == escaped_code_points()


def test_escapes_in_text_and_in_json():
    assert printable("a\n\U000e0001\ud800\\") == "a\\u{000a}\\u{e0001}\ufffd\\"
    document = "".join(json_document({"a": "\n\x7f\U000e0001\ud800", "b": [], "c": iter([1, {}])}))
    assert document == (
        '{\n  "a": "\\n\\u007f\\udb40\\udc01\\ud800",\n  "b": [],\n  "c": [\n    1,\n    {}\n  ]\n}'
    )


@pytest.mark.parametrize("case", vectors("dates"))
def test_created_at(case):
    assert is_date(case["text"]) is case["accepted"]


@pytest.mark.parametrize("case", vectors("coercion"))
def test_string_conversion(case):
    assert js_string(parse_json(case["input"])) == case["text"]


@pytest.mark.parametrize("text", ['{"toString":1}', '[1,[{"toString":null}]]'])
def test_objects_with_a_to_string_member_have_no_string(text):
    assert js_string(parse_json(text)) is None
