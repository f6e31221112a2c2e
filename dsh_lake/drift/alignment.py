"""Which line of one text stands for which of the other: a longest common subsequence, bounded in time.

The rule: lines with the same key belong together in order; between those, lines of the same kind do. The
answer does not depend on which side is called which. Texts of a hundred thousand lines are aligned by the
lines that are unique in both, and only short stretches between them are searched exhaustively.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Matches = list[tuple[int, int]]

_EXHAUSTIVE = 250_000
"""Pairs of lines that are all looked at; beyond that a stretch is taken apart, or matched by windows."""
_WINDOW = 64
"""Lines of each side that are seen at once there."""


class Place(NamedTuple):
    """One place of the aligned texts: an index on each side, None where a side has nothing there."""

    expected: int | None
    actual: int | None


def align(
    expected: Sequence[str], actual: Sequence[str], kinds: tuple[Sequence[str], Sequence[str]]
) -> list[Place]:
    """The places of two texts in order, those of the expected side first where both have something alone.

    Args:
        expected: a key for each line; equal keys are the same line.
        actual: the same of the other side.
        kinds: a kind for each line of both sides; lines of one kind can be changed into each other.
    """
    is_turned = list(actual) < list(expected)
    first, second = (actual, expected) if is_turned else (expected, actual)
    first_kinds, second_kinds = kinds[::-1] if is_turned else kinds
    matches = _matches(first, second)
    for begin, end in _gaps(matches, len(first), len(second)):
        inner = _matches(first_kinds[begin[0] : end[0]], second_kinds[begin[1] : end[1]])
        matches = [*matches, *((one + begin[0], other + begin[1]) for one, other in inner)]
    pairs = sorted((other, one) for one, other in matches) if is_turned else sorted(matches)
    return list(_places(pairs, len(expected), len(actual)))


def _places(pairs: Matches, expected: int, actual: int) -> Iterator[Place]:
    at_expected = at_actual = 0
    for one, other in [*pairs, (expected, actual)]:
        yield from (Place(index, None) for index in range(at_expected, one))
        yield from (Place(None, index) for index in range(at_actual, other))
        if one < expected:
            yield Place(one, other)
        at_expected, at_actual = one + 1, other + 1


def _gaps(matches: Matches, first: int, second: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The stretches between matches in which both sides have something."""
    ends = [*matches, (first, second)]
    begins = [(0, 0), *((one + 1, other + 1) for one, other in matches)]
    return [
        (begin, end)
        for begin, end in zip(begins, ends, strict=True)
        if begin[0] < end[0] and begin[1] < end[1]
    ]


def _matches(first: Sequence[str], second: Sequence[str]) -> Matches:
    """Pairs of indexes with equal keys, increasing on both sides."""
    found: Matches = []
    stretches = [(0, len(first), 0, len(second))]
    while stretches:
        low, high, other_low, other_high = stretches.pop()
        while low < high and other_low < other_high and first[low] == second[other_low]:
            found.append((low, other_low))
            low, other_low = low + 1, other_low + 1
        while low < high and other_low < other_high and first[high - 1] == second[other_high - 1]:
            high, other_high = high - 1, other_high - 1
            found.append((high, other_high))
        if low == high or other_low == other_high:
            continue
        if (high - low) * (other_high - other_low) <= _EXHAUSTIVE:
            found += _longest(first, second, (low, high), (other_low, other_high))
            continue
        anchors = _anchors(first, second, (low, high), (other_low, other_high))
        if anchors:
            found += anchors
            begins = [(low, other_low), *((one + 1, other + 1) for one, other in anchors)]
            ends = [*anchors, (high, other_high)]
            stretches += [
                (begin[0], end[0], begin[1], end[1]) for begin, end in zip(begins, ends, strict=True)
            ]
        else:
            found += _by_windows(first, second, (low, high), (other_low, other_high))
    return sorted(found)


def _longest(
    first: Sequence[str], second: Sequence[str], of_first: tuple[int, int], of_second: tuple[int, int]
) -> Matches:
    """The longest common subsequence of two short stretches."""
    rows, columns = first[slice(*of_first)], second[slice(*of_second)]
    lengths = [[0] * (len(columns) + 1)]
    for key in reversed(rows):
        below, current = lengths[-1], [0] * (len(columns) + 1)
        for column in range(len(columns) - 1, -1, -1):
            if key == columns[column]:
                current[column] = below[column + 1] + 1
            else:
                current[column] = max(below[column], current[column + 1])
        lengths.append(current)
    lengths.reverse()
    found, row, column = [], 0, 0
    while row < len(rows) and column < len(columns):
        if rows[row] == columns[column]:
            found.append((of_first[0] + row, of_second[0] + column))
            row, column = row + 1, column + 1
        elif lengths[row + 1][column] >= lengths[row][column + 1]:
            row += 1
        else:
            column += 1
    return found


def _anchors(
    first: Sequence[str], second: Sequence[str], of_first: tuple[int, int], of_second: tuple[int, int]
) -> Matches:
    """Lines that are unique on both sides, as many as keep their order (patience)."""
    counts = Counter(first[slice(*of_first)])
    others = Counter(second[slice(*of_second)])
    where = {second[index]: index for index in range(*of_second) if others[second[index]] == 1}
    shared = [
        (index, where[first[index]])
        for index in range(*of_first)
        if counts[first[index]] == 1 and first[index] in where
    ]
    piles: list[int] = []
    tops: list[int] = []
    previous: list[int | None] = []
    for number, (_, other) in enumerate(shared):
        pile = bisect_left(piles, other)
        previous.append(tops[pile - 1] if pile else None)
        if pile == len(piles):
            piles.append(other)
            tops.append(number)
        else:
            piles[pile], tops[pile] = other, number
    chain: Matches = []
    at = tops[-1] if tops else None
    while at is not None:
        chain.append(shared[at])
        at = previous[at]
    return chain[::-1]


def _by_windows(
    first: Sequence[str], second: Sequence[str], of_first: tuple[int, int], of_second: tuple[int, int]
) -> Matches:
    """Lines matched from the beginning on, seeing only so far ahead: no longest one, but in linear time."""
    found: Matches = []
    (one, end), (other, other_end) = of_first, of_second
    while one < end and other < other_end:
        if first[one] == second[other]:
            found.append((one, other))
            one, other = one + 1, other + 1
            continue
        ahead = (one, min(one + _WINDOW, end)), (other, min(other + _WINDOW, other_end))
        near = _longest(first, second, *ahead)
        # What lies near the end of a window might match better with what lies beyond it.
        kept = [match for match in near if match[0] - one < _WINDOW // 2 > match[1] - other] or near[:1]
        found += kept
        one, other = (kept[-1][0] + 1, kept[-1][1] + 1) if kept else (ahead[0][1], ahead[1][1])
    return found
