"""What the original's command line prints for one file or one pair, and its exit status.

The rule: stdout, stderr and the exit status are the original's, byte for byte once encoded as UTF-8.
Nothing is printed here.

Source: spec/cassette.md section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from dsh_lake.cassette.compare import compare_files
from dsh_lake.cassette.summary import summarise
from dsh_lake.cassette.terminal import printed_lines
from dsh_lake.errors import CassetteError, CassetteTypeError


class Output(NamedTuple):
    """``stdout`` comes in pieces, since a document can be larger than memory should be."""

    exit: int
    stdout: Iterable[str]
    stderr: str = ""


def verify(path: str, *, as_json: bool = False) -> Output:
    """The output of ``verify``; exit 0 for a sound cassette, else 1 with its first fault."""

    def sound() -> Output:
        summary = summarise(path)
        return Output(0, summary.document() if as_json else [summary.verdict()])

    return _unless_refused(sound)


def inspect(path: str, *, as_json: bool = False, show_calls: bool = False) -> Output:
    """The output of ``inspect``; exit as ``verify``."""

    def sound() -> Output:
        summary = summarise(path, with_calls=show_calls)
        return Output(0, summary.document() if as_json else [summary.text()])

    return _unless_refused(sound)


def diff(expected: str, actual: str, *, as_json: bool = False, show_calls: bool = False) -> Output:
    """The output of ``diff``; exit 0 if equivalent, 2 if different or not comparable, 1 with a fault."""

    def compared() -> Output:
        comparison = compare_files(expected, actual)
        text = [comparison.text(expected, actual, with_calls=show_calls)] if not as_json else None
        return Output(0 if comparison.is_equivalent else 2, text or comparison.document())

    return _unless_refused(compared)


def _unless_refused(produce: Callable[[], Output]) -> Output:
    try:
        return produce()
    except (CassetteError, CassetteTypeError) as error:
        return Output(1, [], printed_lines([error.message]))
