"""The digest of tool arguments is that of their canonical text, by whichever way it was found."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.canonical import canonical_sha256_of_json
from dsh_lake.records.arguments import arguments_sha256

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES), st.booleans())
def test_any_object_has_the_digest_of_its_canonical_text(value: dict[str, object], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert arguments_sha256(text) == canonical_sha256_of_json(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":-0}',
        '{"a":9007199254740993}',
        '{"a":1e2}',
        '{"a":1,"a":2}',
        '{"\U0001f600":1,"\uffff":2}',
        "[1]",
        "{",
        "",
    ],
)
def test_what_the_fast_encoder_would_spell_otherwise_goes_the_exact_way(text: str) -> None:
    assert arguments_sha256(text) == canonical_sha256_of_json(text)


def test_spelling_does_not_matter_but_values_do() -> None:
    assert arguments_sha256('{"b": 1, "a": "x"}') == arguments_sha256('{"a":"\\u0078","b":1.0}')
    assert arguments_sha256('{"a":1}') != arguments_sha256('{"a":2}')
    assert arguments_sha256("not json") is None
