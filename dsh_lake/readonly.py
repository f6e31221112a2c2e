"""Run a query of a user's so that nothing can be written: not in the lake, not anywhere else.

A query passes four walls:

- It is one statement, of a kind that gives rows: SELECT, FROM, VALUES, WITH, TABLE, DESCRIBE, SHOW,
  SUMMARIZE, PIVOT, UNPIVOT, or EXPLAIN of one of them.
- It is run as a subquery. A WITH clause may hold COPY, INSERT, UPDATE or DELETE, and such a statement
  still counts as a SELECT; the engine refuses these clauses everywhere but at the top.
- It calls no table function but a few that compute from their arguments or describe the catalog. Others
  read files, or run text as SQL at the top again (``json_execute_serialized_sql`` writes files that way).
- It runs in an engine of its own, shared with no other connection, that can open the files of the lake's
  tables and nothing else, with its configuration locked. What does not fit into memory is spilled to a
  private folder that is removed afterwards.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import duckdb

from dsh_lake.connection import connect_apart
from dsh_lake.engine import Connection, confine
from dsh_lake.errors import QueryFailed, UsageError
from dsh_lake.lake import Lake, default_lake

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 4096
"""Rows that are held at once: with texts of some KiB each, some MiB."""

_LOOK_UP_EVERY_S = 0.05
_GIVES_ROWS = ("SELECT", "MULTI")  # MULTI is a PIVOT that looks up its columns first.
_COMPUTE = frozenset(("range", "generate_series", "repeat", "repeat_row", "unnest", "json_each", "json_tree"))
_DESCRIBE = ("duckdb_", "pragma_")
"""Table functions that read no file and run no text: these, and those whose names begin so."""
_WITHOUT_ARROW_TYPE = frozenset(
    ["uhugeint", "bignum", "bit", "time with time zone", "variant", "geometry", "union"]
)
"""Types whose values Arrow cannot hold, or that arrive in it as something else: they are given as text."""

_Given = TypeVar("_Given")


class _Token(NamedTuple):
    offset: int
    kind: str
    text: bytes
    """As in the query, with whatever space follows."""


class _Statement(NamedTuple):
    """A query that may be run: ``prefix`` is EXPLAIN or nothing, ``body`` what gives rows."""

    prefix: str
    body: str


@contextmanager
def read_rows(
    query: str,
    lake: str | os.PathLike[str] | None = None,
    *,
    as_of: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Iterator[pa.RecordBatchReader]:
    """The rows of a query over a lake, as a reader of batches of ``BATCH_ROWS`` rows at the most.

    Text has 64-bit offsets. Values of types that Arrow does not have (UHUGEINT, BIT, ...) are text.

    Args:
        query: one statement that gives rows.
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.
        parameters: values for ``$name`` in the query.

    Raises:
        UsageError: the query is none of those that may be run.
        QueryFailed: the engine refused or failed it, here or while the rows are read.
        LakeError: there is no lake, or no such scan.
    """
    with _confined(lake, as_of) as connection, ThreadPoolExecutor(1) as thread:

        def call(function: Callable[[], _Given]) -> _Given:
            return _interruptible(connection, thread, function)

        statement = _checked(connection, query)
        reader = call(lambda: _open_reader(connection, statement, parameters))
        yield _guarded(reader, call)


# -- the statement -----------------------------------------------------------------------------------------


def _checked(connection: Connection, query: str) -> _Statement:
    """The statement of a query, without the semicolon at its end.

    Raises:
        UsageError: it is none that may be run.
        QueryFailed: it does not parse.
    """
    tokens = _tokens(query)
    while tokens and tokens[-1].text.strip() == b";":
        tokens.pop()
    words = [token.text.strip().lower() for token in tokens[:2]]
    is_explain = words[:1] == [b"explain"]
    prefix = b" ".join(words[: 2 if words[1:] == [b"analyze"] else 1]).decode() if is_explain else ""
    kept = tokens[len(prefix.split()) :]
    text = query.encode()[kept[0].offset : kept[-1].offset + len(kept[-1].text)] if kept else b""
    body = text.decode()
    _check_kind(connection, body, tokens)
    _check_functions(tokens)
    return _Statement(prefix, body)


def _tokens(query: str) -> list[_Token]:
    """The query in the engine's own tokens, comments left out."""
    text = query.encode()
    places = [(offset, kind.name) for offset, kind in duckdb.tokenize(query)]
    ends = [*(offset for offset, _ in places), len(text)][1:] if places else []
    return [
        _Token(offset, kind, text[offset:end])
        for (offset, kind), end in zip(places, ends, strict=True)
        if kind != "comment"
    ]


def _check_kind(connection: Connection, body: str, tokens: list[_Token]) -> None:
    try:
        statements = connection.extract_statements(body)
    except duckdb.Error as error:
        raise QueryFailed(str(error) + _hint(tokens)) from error
    if not statements:
        raise UsageError("there is no query: an empty text, or a comment alone")
    if len(statements) > 1:
        raise UsageError(f"one query at a time: these are {len(statements)} statements")
    kind = statements[0].type.name
    if kind not in _GIVES_ROWS:
        raise UsageError(f"only statements that read are run here (SELECT, FROM, DESCRIBE, ...), not {kind}")


def _check_functions(tokens: list[_Token]) -> None:
    called = [
        token.text.strip().decode().strip('"').lower()
        for token, following in pairwise(tokens)
        if token.kind != "operator" and following.text.startswith(b"(")
    ]
    for name in called:
        if name in _refused_functions():
            raise UsageError(f"the function {name} is not available here: queries read the lake alone")


@cache
def _refused_functions() -> frozenset[str]:
    """Table functions of the engine that may read files or run text."""
    with duckdb.connect() as connection:
        listed = connection.execute(
            "select distinct function_name from duckdb_functions() where function_type = 'table'"
        ).fetchall()
    return frozenset(name for (name,) in listed if name not in _COMPUTE and not name.startswith(_DESCRIBE))


def _hint(tokens: list[_Token]) -> str:
    """What may be behind a query that does not parse: the column ``at``, a reserved word."""
    words = [token.text.strip().lower() for token in tokens]
    for before, word, after in zip([b"", *words], words, [*words[1:], b""], strict=False):
        if word == b"at" and before != b"." and after not in (b"time", b"local"):
            return '\nhint: at is a reserved word; write the column as "at" in double quotes, or as t.at'
    return ""


# -- the engine --------------------------------------------------------------------------------------------


@contextmanager
def _confined(lake: str | os.PathLike[str] | None, as_of: str | None) -> Iterator[Connection]:
    target = Lake(lake if lake is not None else default_lake())
    connection = connect_apart(target.path, as_of=as_of)
    with tempfile.TemporaryDirectory(prefix="dsh-lake-") as spilled:
        try:
            connection.execute("set temp_directory = $1", [spilled])
            connection.execute("set arrow_large_buffer_size = true")
            confine(connection, target.tables)
            yield connection
        finally:
            connection.close()


def _open_reader(
    connection: Connection, statement: _Statement, parameters: Mapping[str, Any] | None
) -> pa.RecordBatchReader:
    query = f"from (\n{statement.body}\n)"
    given = dict(parameters) if parameters else None
    try:
        if statement.prefix:
            relation = connection.sql(f"{statement.prefix} {query}", params=given)
        else:
            relation = connection.sql(query, params=given)
            if replaced := _as_text(relation):
                relation = connection.sql(f"select * replace ({replaced}) {query}", params=given)
        return relation.to_arrow_reader(BATCH_ROWS)
    except duckdb.Error as error:
        raise QueryFailed(_as_typed(error)) from error


def _as_text(relation: duckdb.DuckDBPyRelation) -> str:
    """SQL that replaces columns of types that Arrow does not have by text."""
    names = (
        name for name, kind in zip(relation.columns, relation.types, strict=True) if not _has_arrow_type(kind)
    )
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    return ", ".join(f"{name}::varchar as {name}" for name in quoted)


def _has_arrow_type(kind: Any) -> bool:
    if kind.id in _WITHOUT_ARROW_TYPE:
        return False
    inner = kind.children if kind.id in ("list", "array", "struct", "tuple", "map") else ()
    return all(_has_arrow_type(child) for _, child in inner if not isinstance(child, int))


def _as_typed(error: Exception) -> str:
    """The engine's message with line numbers as in the user's text, which begins on line 2 of ours. The text
    of a log that it could not parse is left out."""
    text = re.sub(r"^LINE (\d+):", lambda match: f"LINE {int(match[1]) - 1}:", str(error), flags=re.M)
    malformed = _MALFORMED_JSON.search(text)
    if malformed is None:
        return text
    reason = text[: malformed.end()]
    return f"{reason.rstrip('. ')}{_HALF_A_CHARACTER if 'surrogate' in reason else ''}"


_MALFORMED_JSON = re.compile(r"Malformed JSON at byte \d+ of input: .*?(?=  Input: |$)", re.M)
_HALF_A_CHARACTER = (
    "\nhint: some text in the column was cut within a character, which JSON may hold and the engine does not "
    "read; write parsable(data) in place of data"
)


def _guarded(
    reader: pa.RecordBatchReader, call: Callable[[Callable[[], _Given]], _Given]
) -> pa.RecordBatchReader:
    """The same batches; what the engine fails at on the way is a QueryFailed."""
    import pyarrow as pa

    def batches() -> Iterator[pa.RecordBatch]:
        while True:
            try:
                batch = call(reader.read_next_batch)
            except StopIteration:
                return
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                raise QueryFailed(_as_typed(error)) from error
            yield batch

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _interruptible(
    connection: Connection, thread: ThreadPoolExecutor, function: Callable[[], _Given]
) -> _Given:
    """Call the engine on another thread, so that an interrupt reaches this one at once."""
    future = thread.submit(function)
    try:
        # Not one long wait: after polars has been at work signals no longer end one.
        while not future.done():
            wait([future], timeout=_LOOK_UP_EVERY_S)
    except KeyboardInterrupt:
        # The engine forgets an interrupt that comes between two of its steps: as it plans, before it runs.
        while not future.done():
            connection.interrupt()
            wait([future], timeout=_LOOK_UP_EVERY_S)
        raise
    return future.result()
