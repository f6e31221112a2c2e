"""Two sides compared: their rows as tables, aligned, and the rules of ``queries/drift`` over them.

The rule: what is equal is told by one query over the digests of all lines; only of parts that differ are
texts kept, aligned and looked into. What a difference comes from is told by queries alone.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from dsh_lake.drift.alignment import align
from dsh_lake.drift.comparable import Compared, compare
from dsh_lake.drift.leaves import leaves, record_of, storable
from dsh_lake.drift.sides import Pair
from dsh_lake.errors import DshLakeError, FixtureError
from dsh_lake.fixtures.strings import is_number
from dsh_lake.views import RuleTables

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = [pa.field("pair", pa.int64()), pa.field("part", pa.int64())]
SCHEMAS: Mapping[str, pa.Schema] = {
    "parts": pa.schema(
        [*_KEY, ("role", pa.int64()), ("has_expected", pa.bool_()), ("has_actual", pa.bool_())]
    ),
    "rows": pa.schema(
        [
            *_KEY,
            ("side", pa.string()),
            ("line", pa.int64()),
            ("type", pa.string()),
            ("tool", pa.string()),
            ("step", pa.list_(pa.float64())),
            ("ending", pa.string()),
            ("digest", pa.binary()),
            ("text", pa.large_string()),
        ]
    ),
    "places": pa.schema(
        [*_KEY, ("place", pa.int64()), ("expected_line", pa.int64()), ("actual_line", pa.int64())]
    ),
    "leaves": pa.schema(
        [
            *_KEY,
            ("place", pa.int64()),
            ("leaf", pa.int64()),
            ("member", pa.string()),
            ("is_text", pa.bool_()),
            ("expected", pa.large_string()),
            ("actual", pa.large_string()),
        ]
    ),
}
"""The tables that the rules read. ``parts``: a session's log, or an expected output (no ``role``), of a pair
of scenarios. ``rows``: its normalised lines on either side; all but ``digest`` only where the part differs.
``places``: the aligned lines. ``leaves``: the members that differ in lines that stand for each other."""
_BATCH = 20_000
_SIDES = ("expected", "actual")
_Side = tuple[int, int, str]


class Comparison:
    """All pairs of two sides, and what differs in them.

    Attributes:
        pairs: the scenarios that belong together.
        compared: what was compared of each, None where a side has no such scenario or could not be read.
        faults: why a pair could not be compared, and whether it could not be read.
        rules: the tables and queries of the differences.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs = pairs
        self.compared: list[Compared | None] = []
        self.faults: dict[int, tuple[str, bool]] = {}
        self.rules = RuleTables("drift", SCHEMAS)
        self._lines: dict[_Side, list[str]] = {}
        self._read()
        self._align()
        self._look_into()

    # -- rows ----------------------------------------------------------------------------------------------

    def _read(self) -> None:
        parts: dict[str, list[Any]] = {name: [] for name in SCHEMAS["parts"].names}
        rows = _Batches(SCHEMAS["rows"])
        for number, pair in enumerate(self.pairs):
            compared = self._compared(number, pair)
            self.compared.append(compared)
            for place, part in enumerate(compared.parts if compared is not None else ()):
                values = (number, place, part.role, part.expected is not None, part.actual is not None)
                for column, value in zip(parts.values(), values, strict=True):
                    column.append(value)
                if part.expected is None or part.actual is None:
                    continue
                for side, lines in zip(_SIDES, (part.expected, part.actual), strict=True):
                    is_kept = part.expected != part.actual
                    rows.extend(_rows(number, place, side, lines, is_kept))
                    if is_kept:
                        self._lines[number, place, side] = lines
                # Let go of what the tables hold; that there was something remains.
                part.expected, part.actual = [], []
        self.rules.put("parts", pa.table(parts, schema=SCHEMAS["parts"]))
        self.rules.put("rows", rows.table())

    def _compared(self, number: int, pair: Pair) -> Compared | None:
        if pair.expected is None or pair.actual is None:
            return None
        try:
            return compare(pair.expected, pair.actual)
        except (DshLakeError, OSError) as error:
            self.faults[number] = (str(error), not isinstance(error, FixtureError))
            return None
        finally:
            pair.expected.forget()
            pair.actual.forget()

    # -- alignment -----------------------------------------------------------------------------------------

    def _align(self) -> None:
        keys: dict[_Side, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for pair, part, side, key, kind in _tuples(
            self.rules.fetch(
                "select pair, part, side, key, kind from drift_keys order by pair, part, side, line"
            )
        ):
            keys[pair, part, side][0].append(key)
            keys[pair, part, side][1].append(kind)
        places, differing = _Batches(SCHEMAS["places"]), _Batches(SCHEMAS["leaves"])
        for pair, part in dict.fromkeys(key[:2] for key in self._lines):
            (expected, actual), kinds = zip(*(keys[pair, part, side] for side in _SIDES), strict=True)
            lines = [self._lines[pair, part, side] for side in _SIDES]
            for place, (one, other) in enumerate(align(expected, actual, (kinds[0], kinds[1]))):
                places.append(pair, part, place, _line(one), _line(other))
                if one is not None and other is not None and lines[0][one] != lines[1][other]:
                    for number, leaf in enumerate(leaves(lines[0][one], lines[1][other])):
                        differing.append(pair, part, place, number, *leaf)
        self.rules.put("places", places.table())
        self.rules.put("leaves", differing.table())
        self._lines.clear()

    def _look_into(self) -> None:
        for name in ("drift_places", "drift_renames", "drift_leaf_causes", "drift_changes"):
            self.rules.keep(name)

    def difference(self, pair: int) -> list[dict[str, Any]]:
        """The whole aligned difference of a pair, part by part: the rows of ``drift_difference``."""
        rows: list[dict[str, Any]] = self.rules.fetch(
            f"select * exclude (pair, place) from drift_difference where pair = {pair}"
        ).to_pylist()
        return rows


class _Batches:
    """Rows on their way into an Arrow table, in columns, a batch at a time."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._columns: list[list[Any]] = [[] for _ in schema]
        self._batches: list[pa.RecordBatch] = []

    def append(self, *values: Any) -> None:
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)
        if len(self._columns[0]) >= _BATCH:
            self._close()

    def extend(self, rows: Iterator[tuple[Any, ...]]) -> None:
        for row in rows:
            self.append(*row)

    def _close(self) -> None:
        arrays = [
            pa.array(column, field.type) for column, field in zip(self._columns, self._schema, strict=True)
        ]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._columns = [[] for _ in self._schema]

    def table(self) -> pa.Table:
        self._close()
        return pa.Table.from_batches(self._batches, schema=self._schema)


def _rows(
    pair: int, part: int, side: str, lines: Sequence[str], with_text: bool
) -> Iterator[tuple[Any, ...]]:
    for number, line in enumerate(lines, start=1):
        digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        facts = _facts(line) if with_text else _NO_FACTS
        yield pair, part, side, number, *facts, digest, storable(line) if with_text else None


class _Facts(NamedTuple):
    """Of a record: its type; of a call its tool, turn and step; of the end of a turn why it ended."""

    type: str | None = None
    tool: str | None = None
    step: list[float] | None = None
    ending: str | None = None


_NO_FACTS = _Facts()


def _facts(line: str) -> _Facts:
    record = record_of(line)
    kind = record.get("type") if record is not None else None
    if record is None or not isinstance(kind, str):
        return _NO_FACTS
    data = record.get("data")
    if kind == "tool/call" and isinstance(data, dict):
        step = [data[name] for name in ("turn", "step") if is_number(data.get(name))]
        return _Facts(kind, storable(str(data.get("name"))), step)
    reason = data.get("reason") if kind == "turn/end" and isinstance(data, dict) else None
    ending = reason.get("kind") if isinstance(reason, dict) else None
    return _Facts(storable(kind), ending=ending if isinstance(ending, str) else None)


def _line(index: int | None) -> int | None:
    return None if index is None else index + 1


def _tuples(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    for batch in table.to_batches():
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
