"""Nothing that a terminal would act on is shown as it is, and nothing else is changed."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.terminal_text import terminal_json, terminal_lines, terminal_text

ANY_TEXT = st.text(st.characters())  # surrogates too
UNSAFE = ("Cc", "Cf", "Zl", "Zp", "Cs")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("导出 café ñ", "导出 café ñ"),
        ("a\u00a0b\u3000c", "a\u00a0b\u3000c"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b\x7fc\x9bd", "a\\x00b\\x7fc\\x9bd"),
        ("a\nb\rc\td", "a\\nb\\rc\\td"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u2066b\u200bc\ufeffd", "a\\u2066b\\u200bc\\ufeffd"),
        ("\U000e0041", "\\U000e0041"),
        ("caf\udce9", "caf\\xe9"),
        ("\ud83d", "\\ud83d"),
        ("line\u2028end", "line\\u2028end"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert terminal_text(text) == shown


@given(ANY_TEXT)
def test_what_is_shown_is_safe_and_can_be_encoded(text: str) -> None:
    shown = terminal_text(text)
    shown.encode()
    assert not any(unicodedata.category(letter) in UNSAFE for letter in shown)
    assert terminal_text(shown) == shown


@given(ANY_TEXT)
def test_several_lines_stay_several_lines(text: str) -> None:
    assert terminal_lines(text).split("\n") == [terminal_text(line) for line in text.split("\n")]


@given(st.recursive(ANY_TEXT | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner)))
def test_json_stays_the_same_value(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    shown = terminal_json(text)
    shown.encode()
    assert json.loads(shown) == value
    assert not any(unicodedata.category(letter) in UNSAFE for letter in shown.replace("\n", ""))
