"""The canonical text is the producer's, however deep, long or oddly spelled the JSON is."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import subprocess
import sys

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.canonical import (
    canonical_sha256_of_json,
    canonical_text,
    digest_of_text,
    is_deep,
    number_text,
    parse_json,
)
from dsh_lake.errors import CanonicalError, DuplicateMember, MalformedJson
from tests.cassette.cases import vectors

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0 or math.copysign(1, x) > 0)
    | st.text()
)
plain = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
units = st.text(st.characters(categories=["L", "N", "P", "Cs", "Co"]))


@pytest.mark.parametrize("case", vectors("canonical"))
def test_vector(case):
    if "error" in case:
        with pytest.raises(CanonicalError):
            canonical_text(parse_json(case["input"]))
        return
    text = canonical_text(parse_json(case["input"]))
    assert (text, digest_of_text(text)) == (case["canonical"], case["digest"])


@pytest.mark.parametrize("pairs", vectors("numbers"))
def test_number_spelling(pairs):
    spelled = [number_text(struct.unpack(">d", bytes.fromhex(bits))[0]) for bits, _ in pairs]
    assert spelled == [text for _, text in pairs]


@given(plain)
def test_agrees_with_rfc_8785_where_both_apply(value):
    assert canonical_text(value).encode() == rfc8785.dumps(_within_rfc(value))


def _within_rfc(value):
    """rfc8785 refuses the integer 2^53 itself, which a double holds: give it as one."""
    if isinstance(value, list):
        return [_within_rfc(element) for element in value]
    if isinstance(value, dict):
        return {name: _within_rfc(member) for name, member in value.items()}
    return float(value) if isinstance(value, int) and abs(value) == 2**53 else value


@given(st.recursive(scalars | units, lambda inner: st.lists(inner) | st.dictionaries(units, inner)))
def test_canonical_text_is_stable(value):
    text = canonical_text(value)
    assert canonical_text(parse_json(text, unique_members=True)) == text


@given(st.lists(units, min_size=2, unique=True))
def test_names_are_in_unit_order(names):
    order = [*json.loads(canonical_text(dict.fromkeys(names, 0)))]
    assert order == sorted(order, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


def test_halves_of_a_pair_given_apart_are_one_character():
    assert canonical_text("\ud83d\ude00") == '"\U0001f600"'


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.0, 10**400, (1, 2), {1: 2}, object(), [{"a": b""}]])
def test_what_has_no_canonical_text_is_refused(value):
    with pytest.raises(CanonicalError):
        canonical_text(value)


@pytest.mark.parametrize("value", [2**53 + 1, 12345678901234567890])
def test_long_integers_are_read_as_doubles(value):
    assert canonical_text(value) == canonical_text(float(value))


@pytest.mark.parametrize(
    ("token", "text"),
    [("9007199254740993", "9007199254740992"), ("9999999999999999", "10000000000000000"), ("-0.0e9", None)],
)
def test_tokens_denote_doubles(token, text):
    if text is None:
        with pytest.raises(CanonicalError):
            canonical_text(parse_json(token))
    else:
        assert canonical_text(parse_json(token)) == canonical_text(parse_json(deep(token)))[300:-300] == text


# --- reading -------------------------------------------------------------------------------------

TOKENS = ["{", "}", "[", "]", ",", ":", '"a"', '"\\u0061"', '"\\ud800"', '"\\x"', "0", "-0", "1.5e3", "01"]
TOKENS += ["true", "nul", "NaN", "-Infinity", " ", "\n", "\x0b", "\ufeff", '"\t"', "1.", "-", '"', "1e400"]


def outcome(text, **options):
    """The value, or the class of the error; NaN-free, so that values compare."""
    try:
        return repr(parse_json(text, **options))
    except (MalformedJson, DuplicateMember) as error:
        return type(error)


def deep(text):
    return "[" * 300 + text + "]" * 300


@given(st.lists(st.sampled_from(TOKENS), max_size=9).map("".join) | plain.map(json.dumps))
def test_deep_text_is_read_as_shallow_text_is(text):
    shallow = outcome(text, unique_members=True)
    nested = outcome(deep(text), unique_members=True)
    if isinstance(nested, str):
        nested = nested.removeprefix("[" * 300).removesuffix("]" * 300)
    if text.strip(" \n"):  # nothing between brackets is a value, too: an empty array
        assert nested == shallow


@pytest.mark.parametrize(
    "text", ["", " ", "NaN", "[Infinity]", "01", "+1", "1.", ".5", '"\t"', '"\\x"', "[1,]", "{}x", "\ufeff1"]
)
def test_what_is_no_json_is_refused(text):
    assert outcome(text) is MalformedJson


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '[{"x":{"\\u0061":1,"b":2,"a":3}}]', '{"":0,"":1}'])
@pytest.mark.parametrize("wrap", [str, deep])
def test_duplicate_members_are_found_at_every_depth(text, wrap):
    assert outcome(wrap(text), unique_members=True) is DuplicateMember
    assert outcome(wrap(text + "]"), unique_members=True) is MalformedJson  # syntax comes first
    assert isinstance(outcome(wrap(text)), str)


@pytest.mark.parametrize("levels", [20_000, 100_000])
def test_depth_is_not_limited(levels):
    text = '[{"a":' * (levels // 2) + "0" + "}]" * (levels // 2)
    assert is_deep(text)
    assert canonical_text(parse_json(text, unique_members=True)) == text


def test_width_is_not_depth():
    assert not is_deep("[" + "[[]]," * 5000 + '"[[["' + "]")


def test_interpreter_limits_do_not_matter():
    script = (
        "import sys; sys.setrecursionlimit(60); sys.set_int_max_str_digits(640)\n"
        "from dsh_lake.canonical import canonical_sha256_of_json as sha\n"
        "print(sha('['*150 + '1'*300 + ']'*150), sha('1'*5000), sha('0.' + '1'*5000))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    nested = "[" * 150 + number_text(float("1" * 300)) + "]" * 150
    want = [hashlib.sha256(text.encode()).hexdigest() for text in (nested, "0.1111111111111111")]
    assert done.stdout.split() == [want[0], "None", want[1]]


# --- the digest of a JSON text -------------------------------------------------------------------


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('{ "b": 1.0, "a": [true, null] }', '{"a":[true,null],"b":1}'),
        ('{"a":1,"a":2}', '{"a":2}'),  # as JSON.parse: the last one wins
        (b'"\xff"', '"\ufffd"'),
        ('"\\ud800"', '"\\ud800"'),
    ],
)
def test_digest_of_json_text(text, canonical):
    assert canonical_sha256_of_json(text) == sha256(canonical)


@pytest.mark.parametrize("text", ["", "{", "-0", "1e999", b"\xff", "{} {}"])
def test_no_digest_without_a_canonical_form(text):
    assert canonical_sha256_of_json(text) is None
