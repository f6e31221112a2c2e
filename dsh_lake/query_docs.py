"""``queries/README.md``, made from what the query files and the declared tables say of themselves.

Nothing in it is written by hand, so nothing in it can be wrong for long: a test compares it with this text.

    python -m dsh_lake.query_docs > queries/README.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from dsh_lake import sqlassets
from dsh_lake.query import KINDS, views
from dsh_lake.schemas import TABLES, Column, Table
from dsh_lake.sqlassets import Query

_HEAD = """\
# Tables, views and checks

<!-- Made by `python -m dsh_lake.query_docs > queries/README.md`. Do not edit: change the query files. -->

Each file in this folder is one `SELECT`, and its stem is the name by which it can be asked:
`dsh-lake sql 'from usage_by_day'`. `dsh-lake views NAME` shows the same as here, and the SQL.
"""
_SECTIONS = {
    "table": (
        "Tables",
        "What is in the archives, row by row. Columns in bold are the key. `stored.*` are the rows on disk: "
        "[docs/lake.md](../docs/lake.md).",
    ),
    "view": ("Views", "Answers, built on the tables."),
    "check": ("Checks", "Each is empty when all is well, and has a row for everything that is not."),
    "internal": ("Building blocks", "What tables and views are made of. Subject to change."),
}
_MACROS = ("Macros", "Views with parameters: `dsh-lake sql \"from cassette_diff('A', 'B')\"`.")
_DRIFT = (
    "Drift",
    "What `fixtures drift` asks of two trees, over rows in memory that no lake has; what a difference comes "
    "from is decided here. `drift.*` are those rows.",
)


def readme() -> str:
    """The whole text: tables in the order of their declaration, everything else by name."""
    described, macros, drift = views(), sqlassets.load("macros"), sqlassets.load("drift")
    linked = {one["name"] for one in described} | macros.keys() | drift.keys()
    lines = [_HEAD]
    for kind, (title, about) in _SECTIONS.items():
        of_kind = {one["name"]: one["columns"] for one in described if one["kind"] == kind}
        names = [*(TABLES if kind == "table" else of_kind)]
        entries = [_view(sqlassets.find(name, KINDS), of_kind[name], linked) for name in names]
        lines += _section(title, about, names, entries)
    lines += _section(*_MACROS, [*macros], [_macro(query, linked) for query in macros.values()])
    lines += _section(*_DRIFT, [*drift], [_about(query, linked) for query in drift.values()])
    return "\n".join(lines)


def _section(title: str, about: str, names: Iterable[str], entries: Iterable[Iterator[str]]) -> Iterator[str]:
    yield from (f"## {title}", "", about, "", " · ".join(_link(name) for name in names), "")
    yield from chain.from_iterable(entries)


def _view(query: Query, columns: Iterable[Mapping[str, Any]], linked: set[str]) -> Iterator[str]:
    yield from _about(query, linked)
    table = TABLES.get(query.name)
    if table is not None:
        yield from _declared(table, columns)
    else:
        named = (f"`{column['name']}` {column['type'].lower()}" for column in columns)
        yield from (f"Columns: {', '.join(named)}.", "")


def _macro(query: Query, linked: set[str]) -> Iterator[str]:
    yield from _about(query, linked)
    yield from (f"Called as `{query.name}({', '.join(query.params)})`.", "")


def _about(query: Query, linked: set[str]) -> Iterator[str]:
    yield from (f"### {query.name}", "", query.doc, "")
    grain = query.grain[0].upper() + query.grain[1:] + "."
    severity = f" Severity: {query.severity}." if query.severity else ""
    needs = ", ".join(_link(need) if need in linked else f"`{need}`" for need in query.needs)
    reads = f" Reads {needs}." if needs else ""
    yield from (f"{grain}{severity}{reads}", "")
    if query.params and query.kind != "macros":
        yield from (f"Variables: {', '.join(query.params)}.", "")


def _link(name: str) -> str:
    return f"[{name}](#{name})"


def _declared(table: Table, columns: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    declared = {column.name: column for column in table.columns}
    yield from ("| column | type | what it is | in the record |", "|---|---|---|---|")
    for column in columns:
        yield _column(declared[column["name"]], column["type"].lower(), column["name"] in table.key)
    yield ""


def _column(column: Column, kind: str, is_key: bool) -> str:
    name = f"**{column.name}**" if is_key else column.name
    unit = f", {column.unit}" if column.unit else ""
    source = f"`{column.source}`" if column.source else ""
    doc = column.doc.replace("|", "\\|")
    return f"| {name} | {kind}{unit} | {doc} | {source} |"


if __name__ == "__main__":
    sys.stdout.buffer.write(readme().encode())
