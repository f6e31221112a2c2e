"""Cases of a query, kept as files: small rows of stored tables in, the rows that the query has to give out.

``tests/queries/<query>/<case>/`` holds

- ``<stored table>.jsonl``: a JSON object a row, of the columns that matter. Instants are ISO 8601. A column
  that is left out is null, or what :data:`DEFAULTS` says; ``line`` is two more than ``seq``, as in a log
  without packed rows (the header is line 1, seq 0 the line after). Without ``sources.jsonl`` there is one
  file, all defaults.
- ``prices.csv``: the price rows that hold, in place of the shipped ones.
- ``params.json``: values of variables, and ``only_sources``, the keys of the files that are shown.
- ``expect.jsonl``: the rows, of the columns that the case is about, the same ones in all; in the query's
  order if it has one. Ratios are written as fractions (``"1/3"``), as they are worked out by hand.

Lines that begin with ``#`` say how the expected rows were found. Values are typed by the declared schemas, so
a case cannot disagree with a table in silence; a mistake is reported with file and line.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlglot

from dsh_lake import prices, sqlassets
from dsh_lake.definitions import StoredTables, fill_kept, restrict, set_prices
from dsh_lake.engine import Connection, fetch_table
from dsh_lake.query import KINDS
from dsh_lake.schemas import STORED, Column, stored_schema
from dsh_lake.views import connect_memory

Row = dict[str, Any]

_ROW = {"source_key": 1, "batch": 1, "is_tail": False, "is_recovered": False}
DEFAULTS: dict[str, Row] = {
    **dict.fromkeys(STORED, _ROW),
    "events": {**_ROW, "type": "turn/start", "members": 1},
    "sources": {
        "kind": "session",
        "state": "ok",
        "format_version": 4,
        "root_rank": 0,
        "inherited_cut": 0,
        "first_batch": 1,
        "last_batch": 1,
        "notes": "[]",
    },
    "scans": {},
}
"""What a column is in a row that does not give it. A file is moreover number ``source_key`` (by default its
place), called ``file<key>``, at ``/<key>``, of session ``s<key>``; flags that may not be null are false."""


_UNSET: Row = dict.fromkeys(
    (
        *("time_zone", "projections", "currency", "price_rows", "cache_tolerance_tokens", "idle_gap_s"),
        *("since", "until", "workspace", "model", "grain"),
    )
)
"""The variables that a query may read; each case sets them anew."""


class CaseError(Exception):
    """A file of a case cannot be used; says which line and why."""


class Cases:
    """Runs cases on one connection: to make all views takes longer than to ask most of them."""

    def __init__(self) -> None:
        self._connection: Connection = connect_memory(StoredTables(arrow=_no_rows()))

    def close(self) -> None:
        self._connection.close()

    def differences(self, case: Path) -> list[str]:
        """How what the query gives differs from what the case expects; empty when it does not."""
        # The stored tables are views over objects of these names, looked up anew by every query.
        for name, table in {**_no_rows(), **_stored(case)}.items():
            self._connection.register(f"arrow_{name}", table)
        self._set_variables(case)
        fill_kept(self._connection)
        query = sqlassets.find(case.parent.name, KINDS)
        expected = [row for _, row in _lines(case / "expect.jsonl")]
        columns = [*expected[0]] if expected else []
        if any([*row] != columns for row in expected):
            raise CaseError(
                f"{case / 'expect.jsonl'}: all rows have to name the same columns in the same order"
            )
        chosen = ", ".join(f'"{column}"' for column in columns) or "*"
        found = fetch_table(self._connection, f'select {chosen} from "{query.name}"')
        wanted = [_typed_row(row, found.schema, case / "expect.jsonl") for row in expected]
        is_ordered = bool(sqlglot.parse_one(query.text, dialect="duckdb").args.get("order"))
        return list(differences(wanted, found.to_pylist(), is_ordered=is_ordered))

    def _set_variables(self, case: Path) -> None:
        path = case / "params.json"
        params = json.loads(path.read_text("utf-8")) if path.exists() else {}
        restrict(self._connection, params.pop("only_sources", None))
        for name, value in {**_UNSET, **params}.items():
            set_it = f"set variable {name} = '{value}'" if value is not None else f"reset variable {name}"
            self._connection.execute(set_it)
        if (price_file := case / "prices.csv").exists():
            set_prices(self._connection, prices.parse(price_file.read_text("utf-8"), str(price_file)))


# -- what goes in ------------------------------------------------------------------------------------------


def _no_rows() -> dict[str, pa.Table]:
    return {name: stored_schema(name).empty_table() for name in STORED}


def _stored(case: Path) -> dict[str, pa.Table]:
    known = {"expect.jsonl", "params.json", "prices.csv", *(f"{name}.jsonl" for name in STORED)}
    strangers = sorted({path.name for path in case.iterdir()} - known)
    if strangers:
        raise CaseError(f"{case}: no stored table is called {', '.join(strangers)}")
    tables = {
        name: _table(case / f"{name}.jsonl", name) for name in STORED if (case / f"{name}.jsonl").exists()
    }
    tables = {"sources": _to_arrow([_complete({}, "sources", 1)], "sources"), **tables}
    return {**tables, "sources": _with_repeats(tables)}


def _with_repeats(tables: dict[str, pa.Table]) -> pa.Table:
    """The files, with what reading them would have found: whether an id is used for two calls or results."""
    used: Counter[tuple[Any, ...]] = Counter()
    for name in ("tool_calls", "tool_results"):
        for row in tables[name].to_pylist() if name in tables else ():
            if not row.get("is_replacement"):
                used[name, row["source_key"], row["call_id"]] += 1
    repeated = {key for (_, key, call_id), count in used.items() if count > 1 or call_id is None}
    sources = [
        {**row, "has_repeated_calls": row["source_key"] in repeated} for row in tables["sources"].to_pylist()
    ]
    return _to_arrow(sources, "sources")


def _table(path: Path, name: str) -> pa.Table:
    rows = []
    for place, (line, given) in enumerate(_lines(path), start=1):
        try:
            rows.append(_complete(given, name, place))
            _to_arrow(rows[-1:], name)
        except (CaseError, pa.ArrowException, TypeError, ValueError) as error:
            raise CaseError(f"{path}:{line}: {error}") from error
    return _to_arrow(rows, name)


def _to_arrow(rows: list[Row], name: str) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=stored_schema(name))


def _complete(given: Row, name: str, place: int) -> Row:
    """A row with all columns of its table."""
    columns = STORED[name].stored
    if unknown := given.keys() - {column.name for column in columns}:
        raise CaseError(f"{name} has no column {', '.join(sorted(unknown))}")
    row = {**DEFAULTS[name], **_dependent(given, name, place), **given}
    complete = {column.name: _input_value(column, row.get(column.name)) for column in columns}
    missing = [column.name for column in columns if not column.nullable and complete[column.name] is None]
    if missing:
        raise CaseError(f"{', '.join(missing)} may not be null")
    return complete


def _dependent(given: Row, name: str, place: int) -> Row:
    """Defaults that depend on other columns of the row, or on its place in the file."""
    if name == "sources":
        key = given.get("source_key", place)
        return {"source_key": key, "source_id": f"file{key}", "path": f"/{key}", "session_id": f"s{key}"}
    return {"line": given["seq"] + 2} if "seq" in given else {}


def _input_value(column: Column, value: Any) -> Any:
    if value is None and column.type == "boolean" and not column.nullable:
        return False
    return datetime.fromisoformat(value) if column.type == "timestamp" and value is not None else value


def _lines(path: Path) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise CaseError(f"{path}:{number}: {error}") from error


# -- what comes out ----------------------------------------------------------------------------------------


def _typed_row(row: Row, schema: pa.Schema, path: Path) -> Row:
    try:
        return {name: _expected_value(value, schema.field(name).type) for name, value in row.items()}
    except (TypeError, ValueError) as error:
        raise CaseError(f"{path}: {error}") from error


def _expected_value(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        return datetime.fromisoformat(value)
    if pa.types.is_date(kind):
        return date.fromisoformat(value)
    return float(Fraction(value)) if pa.types.is_floating(kind) else value


def differences(expected: list[Row], found: list[Row], *, is_ordered: bool) -> Iterator[str]:
    """A line for each value, row or place in which the rows differ."""
    if not is_ordered:
        expected, found = _aligned(expected, found)
    for number, (wanted, got) in enumerate(zip_longest(expected, found), start=1):
        if not got:
            yield f"missing row: {_shown(wanted)}"
        elif not wanted:
            yield f"row too many: {_shown(got)}"
        else:
            yield from (
                f"row {number}: {name}: expected {_shown(wanted[name])}, found {_shown(got[name])}"
                for name in wanted
                if not _is_same(wanted[name], got[name])
            )


def _aligned(expected: list[Row], found: list[Row]) -> tuple[list[Row], list[Row]]:
    """Both lists so that each row stands beside the one most like it; rows left over are at the end."""
    left, pairs = list(found), []
    for wanted in sorted(
        expected, key=lambda row: -max((_likeness(row, other) for other in found), default=0)
    ):
        best = max(left, key=lambda row: _likeness(wanted, row), default=None)
        if best is not None:
            left.remove(best)
        pairs.append((wanted, best or {}))
    return [wanted for wanted, _ in pairs], [got for _, got in pairs] + left


def _likeness(one: Row, other: Row) -> int:
    return sum(_is_same(value, other[name]) for name, value in one.items())


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return bool(one == other and isinstance(one, bool) == isinstance(other, bool))


def _shown(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
