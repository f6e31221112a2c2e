"""Lines aligned, and the members in which two lines differ."""

from __future__ import annotations

import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.drift.alignment import align
from dsh_lake.drift.leaves import Leaf, leaves

texts = st.lists(st.sampled_from("abcd"), max_size=9)


def longest(first, second):
    """The length of the longest common subsequence, by its definition."""

    @cache
    def of(one, other):
        if one == len(first) or other == len(second):
            return 0
        if first[one] == second[other]:
            return 1 + of(one + 1, other + 1)
        return max(of(one + 1, other), of(one, other + 1))

    return of(0, 0)


def aligned(first, second):
    """Aligned without kinds by which unlike lines could be paired."""
    kinds = ([f"<{place}" for place in range(len(first))], [f">{place}" for place in range(len(second))])
    return align(first, second, kinds)


@given(texts, texts)
def test_every_line_has_one_place_in_order_and_as_many_as_can_are_matched(first, second):
    places = aligned(first, second)
    for side, text in ((0, first), (1, second)):
        assert [place[side] for place in places if place[side] is not None] == list(range(len(text)))
    pairs = [place for place in places if None not in place]
    assert all(first[one] == second[other] for one, other in pairs)
    assert len(pairs) == longest(tuple(first), tuple(second))


@given(texts, texts)
def test_sides_can_be_exchanged(first, second):
    forth, back = aligned(first, second), aligned(second, first)
    pairs = [place for place in forth if None not in place]
    assert [(other, one) for one, other in pairs] == [place for place in back if None not in place]


def test_between_equal_lines_those_of_a_kind_belong_together():
    kinds = (["head", "call", "end"], ["head", "note", "call", "end"])
    places = align(["h", "call 1", "e"], ["h", "n", "call 2", "e"], kinds)
    assert places == [(0, 0), (None, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("repeated", [False, True], ids=["unique", "repeated"])
def test_long_texts_take_no_quadratic_time(repeated):
    """A hundred thousand lines of which every hundredth is another."""
    first = [f"line {number % 50 if repeated else number}" for number in range(100_000)]
    second = [f"other {number}" if number % 100 == 7 else line for number, line in enumerate(first)]
    began = time.process_time()
    places = align(first, second, (["x"] * len(first), ["x"] * len(second)))
    assert time.process_time() - began < 20
    assert all(one == other for one, other in places)
    assert len(places) == len(first)


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        ('{"a":1}', '{"a":1}', [("(order)", None, None)]),
        ('{"a":{"b":[1,2]}}', '{"a":{"b":[1,3]}}', [("a.b[]", "2", "3")]),
        ('{"a":1}', '{"b":1}', [("a", "1", None), ("b", None, "1")]),
        ('{"a":[1]}', '{"a":[1,2]}', [("a[]", None, "2")]),
        ('{"a":true}', '{"a":1}', [("a", "true", "1")]),
        ('{"a":null}', "{}", [("a", "null", None)]),
        ('{"a":"\\ud800"}', '{"a":"x"}', [("a", "\\ud800", "x")]),
        ("plain", "other", [("(line)", "plain", "other")]),
    ],
)
def test_members_that_differ(expected, actual, found):
    told = [(leaf.member, leaf.expected, leaf.actual) for leaf in leaves(expected, actual)]
    if found[0][0] == "(order)":
        told = [(member, None, None) for member, *_ in told]
    assert told == found


def test_fragments_of_a_stream_are_put_together():
    one = '{"data":{"stream":[{"type":"text-chunks","time0":0,"dt":[0],"texts":["ab","c"]}]}}'
    other = '{"data":{"stream":[{"type":"text-chunks","time0":0,"dt":[0],"texts":["a","bc"]}]}}'
    assert leaves(one, other) == [
        Leaf("data.stream[].cuts[]", False, "2", "1"),
        Leaf("data.stream[].cuts[]", False, "1", "2"),
    ]
    changed = other.replace('"bc"', '"bd"')
    assert leaves(one, changed)[0] == Leaf("data.stream[].text", True, "abc", "abd")
