"""What ``dsh-lake views`` prints for people."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from dsh_lake.cli.layout import Column, table

_PAGE = 100
_HEADS = {
    "table": "Tables",
    "view": "Views, built on the tables",
    "check": "Checks, empty when all is well",
}


def views_text(described: Sequence[Mapping[str, Any]], width: int | None) -> str:
    """All tables and views: a sentence, what a row is, and the names of the columns."""
    lines: list[str] = []
    for kind, head in _HEADS.items():
        of_kind = [one for one in described if one["kind"] == kind]
        lines += [head, ""] if of_kind else []
        for one in of_kind:
            lines += _entry(one, width or _PAGE)
    lines += [
        "The columns of one with their types, and its SQL: dsh-lake views NAME",
        "Its rows: dsh-lake sql 'from NAME'",
    ]
    return "".join(f"{line}\n" for line in lines)


def _entry(one: Mapping[str, Any], width: int) -> list[str]:
    names = ", ".join(column["name"] for column in one["columns"])
    texts = (one["doc"], f"{one['grain'].capitalize()}.", f"Columns: {names}")
    indented = [
        line
        for text in texts
        for line in textwrap.wrap(text, width, initial_indent="    ", subsequent_indent="      ")
    ]
    return [f"  {one['name']}", *indented, ""]


def view_text(one: Mapping[str, Any], width: int | None) -> str:
    """One table or view: sentence, columns and SQL."""
    described = one["columns"]
    columns = [
        Column("column", [column["name"] for column in described]),
        Column("type", [column["type"].lower() for column in described]),
    ]
    if any(column["doc"] for column in described):
        columns.append(Column("what it is", [column["doc"] or "" for column in described]))
    lines = [
        f"{one['name']}: {one['doc']}",
        f"{one['grain'].capitalize()}.",
        "",
        *table(columns, width),
        "",
        one["sql"].rstrip("\n"),
    ]
    return "".join(f"{line}\n" for line in lines)
