"""What ``dsh-lake reconcile`` prints for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dsh_lake.cli.layout import NOTHING, Column, table
from dsh_lake.quantities import counted
from dsh_lake.reconcile import KINDS
from dsh_lake.terminal_text import terminal_text


def reconcile_text(result: Mapping[str, Any], width: int | None) -> str:
    """The figures that differ, with what explains the difference; how many agree; what was not compared."""
    gaps = [row for row in result["rows"] if row["gap"]]
    lines = [
        *(table(_columns(result, gaps), width) if gaps else ()),
        *([""] if gaps else ()),
        *_notes(result),
    ]
    return "".join(f"{line}\n" for line in lines)


def _columns(result: Mapping[str, Any], rows: list[Mapping[str, Any]]) -> list[Column]:
    session = [Column("session", [_text(row["session_id"]) for row in rows])]
    return [
        Column("day", [_text(row["day"]) for row in rows], is_rigid=True),
        Column("model", [_text(row["model"]) for row in rows]),
        *(session if result["against"] == "projection" else ()),
        Column("measure", [row["measure"] for row in rows], is_rigid=True),
        *(
            Column(name, [_figure(row[name]) for row in rows], is_number=True)
            for name in ("ours", "theirs", "gap")
        ),
        Column("explained by", [_explained(row) for row in rows]),
        Column("unexplained", [_figure(row["unexplained"]) for row in rows], is_number=True),
    ]


def _text(value: str | None) -> str:
    return NOTHING if value is None else terminal_text(value)


def _figure(value: float | None) -> str:
    """Tokens are whole, costs are not."""
    if value is None:
        return NOTHING
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"


def _explained(row: Mapping[str, Any]) -> str:
    parts = [f"{kind} {row[kind]:,}" for kind in KINDS if row[kind]]
    if row["unreported"]:
        parts.append(f"({counted(row['unreported_calls'], 'title or search call')})")
    return ", ".join(parts).replace(", (", " (") or NOTHING


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    tokens = [row for row in result["rows"] if row["unexplained"] is not None]
    equal = sum(1 for row in tokens if not row["gap"])
    open_ = sum(1 for row in tokens if row["unexplained"])
    explained = len(tokens) - equal - open_
    yield f"{counted(len(tokens), 'figure')}: {equal:,} equal, {explained:,} explained, {open_:,} unexplained"
    for one in result["left_out"]:
        yield f"not compared: {one['count']:,} {one['what']} ({terminal_text(one['reason'])})"
    if result["ignored_columns"]:
        yield f"columns not understood: {terminal_text(', '.join(result['ignored_columns']))}"
