"""What changed between two folders of cassettes: all pairs with the same path below them, compared at once.

The rule: a pair is compared as two single files are (``cassette_changes``); a file that only one folder has
is added or removed; a cassette that is not sound is compared with nothing, and its fault is told.

Source: spec/cassette.md section 9.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from dsh_lake.cassette.collection import Collection, PathLike, opened
from dsh_lake.cassette.verification import judge
from dsh_lake.engine import Connection, run
from dsh_lake.errors import UsageError
from dsh_lake.records.cassette_facts import unstored

CHANGES = ("added", "removed", "outcome", "boundary", "timing")


class PairDiff(msgspec.Struct):
    """One path below both folders.

    ``status`` is equivalent, different, not-comparable, added, removed, invalid or unreadable. Counts are of
    calls; ``timing`` never counts as a difference. ``calls`` are the single changes, as rows of
    ``cassette_changes``.
    """

    path: str
    status: str = "equivalent"
    added: int = 0
    removed: int = 0
    outcome: int = 0
    boundary: int = 0
    timing: int = 0
    policy_changes: list[str] = []
    issues: list[str] = []
    calls: list[dict[str, Any]] = msgspec.field(default_factory=list)
    message: str | None = None


class TreeDiff(msgspec.Struct, frozen=True):
    """The comparison of two folders, by path."""

    expected: str
    actual: str
    pairs: list[PairDiff]

    @property
    def is_equivalent(self) -> bool:
        """Whether every cassette of one folder is equivalent to its counterpart in the other."""
        return all(pair.status == "equivalent" for pair in self.pairs)

    @property
    def exit_code(self) -> int:
        """0: all equivalent. 1: something could not be read. 2: differences, or an unsound cassette."""
        if any(pair.status == "unreadable" for pair in self.pairs):
            return 1
        return 0 if self.is_equivalent else 2

    def document(self, *, with_calls: bool = False) -> dict[str, Any]:
        """The comparison as plain values, as ``--format json`` prints it."""
        pairs = msgspec.to_builtins(self.pairs)
        for pair in () if with_calls else pairs:
            del pair["calls"]
        return {
            "expected": self.expected,
            "actual": self.actual,
            "equivalent": self.is_equivalent,
            "compared": sum(pair.status in _COMPARED for pair in self.pairs),
            "pairs": pairs,
        }


_BATCH_ROWS = 10_000
_COMPARED = ("equivalent", "different", "not-comparable")


def diff_trees(
    expected: PathLike, actual: PathLike, *, with_calls: bool = False, jobs: int | None = None
) -> TreeDiff:
    """Compare two folders of cassettes.

    Args:
        with_calls: keep every single change.
        jobs: processes that read; by default as many as there are processors, 4 at most.

    Raises:
        UsageError: one of the two is no folder, or neither holds a cassette.
    """
    folders = [os.fspath(expected), os.fspath(actual)]
    for folder in folders:
        if not os.path.isdir(folder):
            raise UsageError(f"{folder}: no folder; both or neither of the paths to compare must be one")
    with opened(folders, jobs=jobs) as collection:
        if not collection.names:
            raise UsageError("no *.cassette.jsonl below either folder")
        sides = [_below(collection, folder) for folder in folders]
        pairs = {path: PairDiff(path) for path in sorted(sides[0].keys() | sides[1].keys())}
        _refuse(collection, folders, pairs)
        _mark_single(sides, pairs)
        for row in _changes(collection.connection, sides, pairs):
            _add(pairs[row.pop("path")], row, with_calls)
    return TreeDiff(folders[0], folders[1], list(pairs.values()))


def _below(collection: Collection, folder: str) -> dict[str, str]:
    """``source_id`` of each cassette below a folder, by its path there."""
    start = os.path.normpath(folder)
    named = {os.path.relpath(name, start): source_id for source_id, name in collection.names.items()}
    return {path: source_id for path, source_id in named.items() if not path.startswith(os.pardir + os.sep)}


def _refuse(collection: Collection, folders: list[str], pairs: dict[str, PairDiff]) -> None:
    """Note the cassettes that cannot be compared."""
    judged, _ = judge(collection)
    for one in judged:
        if one.status == "sound" or one.path in folders:
            continue
        for folder in folders:
            path = os.path.relpath(one.path, folder)
            if not path.startswith(os.pardir + os.sep):
                pair = pairs.setdefault(path, PairDiff(path))
                pair.status, pair.message = one.status, f"{one.path}: {one.message}"


def _mark_single(sides: list[dict[str, str]], pairs: dict[str, PairDiff]) -> None:
    for path, pair in pairs.items():
        if pair.status == "equivalent" and path not in sides[0]:
            pair.status = "added"
        elif pair.status == "equivalent" and path not in sides[1]:
            pair.status = "removed"


def _changes(
    connection: Connection, sides: list[dict[str, str]], pairs: Mapping[str, PairDiff]
) -> Iterator[dict[str, Any]]:
    """The rows of ``cassette_changes`` for all pairs, each with the ``path`` of its pair."""
    compared = {
        (sides[0][path], sides[1][path]): path for path, pair in pairs.items() if pair.status == "equivalent"
    }
    if not compared:
        return
    asked = [{"expected": expected, "actual": actual} for expected, actual in compared]
    relation = run(connection, "from cassette_changes($pairs)", {"pairs": asked})
    for batch in relation.to_arrow_reader(_BATCH_ROWS):
        for row in batch.to_pylist():
            path = compared[row.pop("expected"), row.pop("actual")]
            del row["expected_path"], row["actual_path"]
            yield {"path": path, **row}


def _add(pair: PairDiff, row: dict[str, Any], with_calls: bool) -> None:
    change, what = row["change"], row["what"]
    if change == "issue":
        pair.issues = [*pair.issues, what]
        pair.status = "not-comparable"
        return
    if change != "timing" and pair.status == "equivalent":
        pair.status = "different"
    if change == "policy":
        pair.policy_changes = [*pair.policy_changes, what]
        return
    setattr(pair, change, getattr(pair, change) + 1)
    if with_calls:
        readable = {name: unstored(value) if isinstance(value, str) else value for name, value in row.items()}
        pair.calls.append(readable)
