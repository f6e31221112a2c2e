"""Lines to values and back: what JSON.parse and JSON.stringify make of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.errors import FixtureError, MalformedJson
from dsh_lake.fixtures.normalize import normalize_snapshot
from dsh_lake.fixtures.rows import parse, rows_of, stringify
from dsh_lake.fixtures.store import store_fixture
from dsh_lake.fixtures.strings import Context
from tests.fixtures_kit.runs import CWD, message_id


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"b":1,"10":2,"9":3,"01":4}', '{"9":3,"10":2,"b":1,"01":4}'),
        ('{"b":1,"4294967295":2,"4294967294":3}', '{"4294967294":3,"b":1,"4294967295":2}'),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
        ("[1.0,1e3,-0,-0.0,0.1,1e-7,0.00001,123e-20]", "[1,1000,0,0,0.1,1e-7,0.00001,1.23e-18]"),
        ("[1e21,1e20]", "[1e+21,100000000000000000000]"),
        ("[12345678901234567890,9007199254740993]", "[12345678901234567000,9007199254740992]"),
        ("[1e999,-1e999]", "[null,null]"),
        (r'"\ud83d\ude00\ud800\u0000\u001f\/\u2028"', '"😀\\ud800\\u0000\\u001f/\u2028"'),
        (' {"a" : [ 1 , 2 ] }\r', '{"a":[1,2]}'),
    ],
)
def test_values_are_written_as_javascript_writes_what_it_read(text, written):
    assert stringify(parse(text)) == written


@pytest.mark.parametrize("text", ["", "NaN", "[01]", "[1,]", "'a'", '"\t"', '{"a":1}x', "\ufeff1", '"\\x"'])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(MalformedJson):
        parse(text)


def test_lines_are_counted_with_blank_ones_and_what_javascript_calls_blank_is_blank():
    log = '\n{"a":1}\r\n \t\n\u00a0\ufeff\n{"b":2}'
    assert [(row.line, row.record) for row in rows_of(log)] == [(2, {"a": 1}), (5, {"b": 2})]


def test_separators_within_strings_end_no_line():
    assert [row.record for row in rows_of('{"a":"\u2028\u0085"}\n')] == [{"a": "\u2028\u0085"}]


@pytest.mark.parametrize("depth", [150, 5_000, 200_000])
def test_depth_is_read_or_refused_and_never_ends_the_interpreter(depth):
    text = '{"a":' * depth + "1" + "}" * depth
    if depth == 150:
        assert stringify(parse(text)) == text
    else:
        with pytest.raises(FixtureError):
            rows_of(text)


@pytest.mark.parametrize(("opening", "closing"), [('{"id":', "}"), ("[", "]"), ('[{"id":', "}]")])
@pytest.mark.parametrize("depth", [98, 100, 102, 196, 198, 200, 202])
def test_what_is_read_may_be_walked_far_from_the_interpreters_limit(opening, closing, depth):
    inner = f'"{message_id(1)} {CWD}\\\\x"'
    text = f'{{"type":"session","id":"{message_id(1)}","cwd":"{CWD}"}}\n'
    text += f'{{"type":"x","data":{opening * depth}{inner}{closing * depth}}}\n'

    def below(frames):
        if frames:
            return below(frames - 1)
        store_fixture([text], known=[text])
        return normalize_snapshot(text, Context(CWD, legacy_ids=True))

    try:
        assert "{{cwd}}" in below(200)
    except FixtureError:
        assert (opening + closing).count("}") * depth + (opening + closing).count("]") * depth > 195


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_is_written_is_read_again(value):
    assert parse(stringify(parse(json.dumps(value)))) == value
