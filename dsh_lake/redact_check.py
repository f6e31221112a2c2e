"""List the secrets in a lake: of what kind and where, never what they are.

The rule: whatever the schemas declare to be content is looked through, on disk as it is, rows that are no
longer current included, and a secret leaves the engine as a fingerprint only. Its key is made for one run and
kept nowhere: equal secrets have equal fingerprints within a result, and hashing guesses finds nothing out.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dsh_lake import sqlassets
from dsh_lake.connection import connect
from dsh_lake.engine import fetch_rows
from dsh_lake.errors import LakeError
from dsh_lake.schemas import STORED, Column, Table
from dsh_lake.secret_patterns import PATTERNS, REDACTED

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {
    "bearer": "a bearer token",
    "token": "an API token (sk-..., gh?_...)",
    "aws-key-id": "the id of an AWS access key",
    "assignment": "a value given to a password, token, key or the like",
    "member": "the value of a JSON member with a secret's name",
}
"""What is looked for."""

_FINDING = ("kind", "path", "line", "table", "column", "fingerprint", "is_current")
_IN_QUERY = {"table": "table_name", "column": "column_name"}
"""Members of a finding whose names are words of SQL."""


def redact_check(lake: str | os.PathLike[str] | None = None, *, as_of: str | None = None) -> dict[str, Any]:
    """List the secrets in the free text of a lake.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.

    Returns:
        ``ok`` (nothing found), ``columns`` (names of what was looked through), ``kinds`` (each with ``kind``,
        ``doc``, how many different ``secrets`` and in how many ``places``) and ``findings``, by place:
        ``kind``, ``path``, ``line`` (null where the text is that of no line), ``table``, ``column``,
        ``fingerprint`` (null where the value of a member is an object or a list) and ``is_current``
        (false: of a file that has changed since; compacting removes it).

    Raises:
        LakeError: there is no lake, no such scan, or the lake holds no content to be checked.

    Source: spec/cassette.md section 14.
    """
    with connect(lake, as_of=as_of) as connection:
        ((has_content,),) = connection.execute("select arg_max(has_content, batch) from scans").fetchall()
        if not has_content:
            raise LakeError("this lake is kept without content: there is no text in it to be checked")
        connection.execute(f"create temporary view free_texts as {_free_texts()}")
        query = sqlassets.find("secrets", ["redaction"])
        parameters = {**PATTERNS, "redacted": REDACTED, "key": secrets.token_hex(32)}
        rows = fetch_rows(connection, query.text, parameters)
    findings = [{name: row[_IN_QUERY.get(name, name)] for name in _FINDING} for row in rows]
    columns = [f"{table.name}.{column.name}" for table, column in _content()]
    return {"ok": not findings, "columns": columns, "kinds": _kinds(findings), "findings": findings}


def finding_rows(result: Mapping[str, Any]) -> pa.RecordBatchReader:
    """The findings of :func:`redact_check` as rows in its order: texts, but ``line`` and ``is_current``."""
    import pyarrow as pa

    types = {"line": pa.int64(), "is_current": pa.bool_()}
    schema = pa.schema([(name, types.get(name, pa.large_string())) for name in _FINDING])
    return pa.Table.from_pylist(result["findings"], schema=schema).to_reader()


def _kinds(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each kind with how many secrets were found of it, and in how many places."""
    places = Counter(finding["kind"] for finding in findings)
    different = Counter(kind for kind, _ in {(one["kind"], one["fingerprint"]) for one in findings})
    return [
        {"kind": kind, "doc": doc, "secrets": different[kind], "places": places[kind]}
        for kind, doc in KINDS.items()
    ]


# -- what is looked through --------------------------------------------------------------------------------


def _content() -> Iterator[tuple[Table, Column]]:
    """Every stored column of free text: whatever is declared to be content."""
    for table in STORED.values():
        yield from ((table, column) for column in table.stored if column.is_content)


def _free_texts() -> str:
    """All text of all content columns as one query: ``place``, ``text``, ``is_json``."""
    return " union all ".join(_column_texts(table, column) for table, column in _content())


def _column_texts(table: Table, column: Column) -> str:
    lines = [f"t.{name}" for name in ("physical_line", "line") if name in table.stored_names]
    is_of_file = table.name == "sources"
    files = "" if is_of_file else " join stored.sources as s using (source_key)"
    place = {
        "path": "t.path" if is_of_file else "s.path",
        "line": lines[0] if lines else "null::bigint",
        "table_name": f"'{table.name}'",
        "column_name": f"'{column.name}'",
        "is_current": "true" if is_of_file else _IS_CURRENT,
    }
    fields = ", ".join(f"{name}: {value}" for name, value in place.items())
    text = f"t.{column.name}"
    return (
        f"select {{{fields}}} as place, {_JOINED.format(text) if column.type == 'json[]' else text} as text, "
        f"{'true' if column.type.startswith('json') else 'false'} as is_json "
        f"from stored.{table.name} as t{files} where {text} is not null"
    )


_IS_CURRENT = "t.batch between s.first_batch and s.last_batch and (not t.is_tail or t.batch = s.last_batch)"
"""See docs/lake.md."""
_JOINED = """'"' || array_to_string(list_transform({}, lambda one: one[2:-2]), '') || '"'"""
"""Members of a packed event as one JSON string: what was cut into pieces is whole again."""
