"""What ``dsh-lake fixtures drift`` prints for people: a handful of causes first, then the scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dsh_lake.cli.layout import NOTHING, Column, table
from dsh_lake.quantities import counted
from dsh_lake.terminal_text import terminal_text

NOTHING_COMPARED = "nothing was compared: no scenario of one side belongs to one of the other"
_MARKS = {"added": "+", "removed": "-", "changed": "~"}
_NAMED = 5
"""Members and files that are named before the rest is only counted."""


def drift_text(document: Mapping[str, Any], width: int | None) -> str:
    """The causes, the scenarios that differ, and a verdict."""
    lines = [*_causes(document["causes"], width), *_scenarios(document["scenarios"], width)]
    lines += [""] if lines else []
    lines.append(_verdict(document))
    return "".join(f"{line}\n" for line in lines)


def _causes(causes: Sequence[Mapping[str, Any]], width: int | None) -> list[str]:
    if not causes:
        return []
    columns = [
        Column("cause", [cause["cause"] for cause in causes], is_rigid=True),
        Column("tier", [cause["tier"] for cause in causes], is_rigid=True),
        Column("severity", [cause["severity"] for cause in causes], is_rigid=True),
        Column("scenarios", [f"{cause['scenarios']:,}" for cause in causes], is_number=True),
        Column("what it means", [cause["meaning"] for cause in causes]),
    ]
    return table(columns, width)


def _scenarios(scenarios: Sequence[Mapping[str, Any]], width: int | None) -> list[str]:
    rows = [row for scenario in scenarios for row in _rows(scenario)]
    if not rows:
        return []
    headings = ("scenario", "run", "part", "status", "line", "cause", "note")
    cells = list(zip(*rows, strict=True))
    columns = [
        Column(
            heading, list(cells[place]), heading == "line", heading in ("cause", "status"), heading == "note"
        )
        for place, heading in enumerate(headings)
        if heading != "note" or any(cells[place])
    ]
    return ["", *table(columns, width)]


def _rows(scenario: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A line for each part that differs, and for what else has to be known."""
    about = (terminal_text(scenario["scenario"]), terminal_text(scenario["run"] or NOTHING))
    note = terminal_text(scenario["note"] or "")
    for part in (*scenario["roles"], *scenario["outputs"]):
        if part["status"] != "equal" or note:
            name = f"session {part['role']}" if "role" in part else terminal_text(part["name"])
            line = part["first_different_line"]
            shown = NOTHING if line is None else f"{line:,}"
            yield (*about, name, part["status"], shown, part["cause"] or NOTHING, note)
            note = ""
    if scenario["workspace_equal"] is False:
        paths = scenario["workspace_paths"]
        named = ", ".join(terminal_text(path) for path in paths[:_NAMED])
        more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
        yield (*about, "workspace", "different", NOTHING, "workspace-changed", named + more)


def _verdict(document: Mapping[str, Any]) -> str:
    scenarios = document["scenarios"]
    differing = sum(not scenario["equal"] for scenario in scenarios)
    compared = f"{counted(document['compared'], 'scenario')} compared"
    if not document["compared"]:
        return f"{compared}: that is no success"
    if not differing:
        return f"{compared}: all equal"
    failing = any(cause["severity"] == "fail" for cause in document["causes"])
    noise = all(cause["tier"] == "noise" for cause in document["causes"])
    verdict = "drift" if failing else "noise alone" if noise else "nothing that fails"
    return f"{compared}, {differing:,} differ: {verdict}"


def difference_text(rows: Sequence[Mapping[str, Any]], width: int | None) -> str:
    """The places of a difference in order, equal ones only counted; texts where they were asked for."""
    lines: list[str] = []
    for (scenario, run, part), of_part in groupby(
        rows, lambda row: (row["scenario"], row["run"], row["part"])
    ):
        title = f"{terminal_text(scenario)} ({terminal_text(run or NOTHING)}), {terminal_text(part or '')}"
        lines += [*([""] if lines else []), title]
        for is_same, places in groupby(of_part, lambda row: row["change"] == "same"):
            if is_same:
                lines.append(f"    {sum(1 for _ in places):,} equal lines")
            else:
                lines += [line for place in places for line in _place(place)]
    return "".join(f"{line}\n" for line in lines) if lines else "no difference\n"


def _place(row: Mapping[str, Any]) -> Iterator[str]:
    numbers = "/".join(
        NOTHING if row[f"{side}_line"] is None else str(row[f"{side}_line"])
        for side in ("expected", "actual")
    )
    what = terminal_text(" ".join(filter(None, (row["type"], row["tool"]))))
    members = [terminal_text(member) for member in row["members"]]
    named = ", ".join(members[:_NAMED]) + (f", {len(members) - _NAMED} more" if len(members) > _NAMED else "")
    yield f"  {_MARKS[row['change']]} {numbers:<9} {what}: {', '.join(row['causes'])}" + (
        f" ({named})" if named else ""
    )
    for mark, side in (("-", "expected"), ("+", "actual")):
        digest = row[f"{side}_sha256"]
        if side in row and row[side] is not None:
            yield f"      {mark} {terminal_text(row[side])}"
        elif digest is not None:
            yield f"      {mark} sha256 {digest[:16]}"
