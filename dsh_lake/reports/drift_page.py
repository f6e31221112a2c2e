"""What a page of drift says: what broke first, since when, and each difference for those who look for it.

The rule: a reader sees a handful of causes before any line of a log, noise apart from change, and no text of
a log that was not asked for.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dsh_lake.drift.history import Night, since
from dsh_lake.drift.verdict import Drift, PartDrift, ScenarioDrift
from dsh_lake.quantities import counted
from dsh_lake.reports.document import UNKNOWN, Column, Figure, Page, Section, Table, Terms
from dsh_lake.reports.wording import number

_SCENARIOS = 40
"""Scenarios whose differences are shown place by place."""
_PLACES = 60
"""Places of one scenario that are shown."""
_MEMBERS = 4
_TIERS = {
    "shape": "Other events, other members of events, other settings, files or sessions.",
    "tools": "Other tools were called, with other arguments, or with another outcome.",
    "text": "Words or counts of tokens differ.",
    "noise": "What differs between two runs of the same: random ids, clocks. No change.",
    "role": "One session of a scenario: session 0 is the parent, the others are sub-agents.",
    "line": "The line of the normalised log, from 1.",
}


def drift_page(
    drift: Drift, sides: tuple[str, str], nights: Sequence[Night] | None, *, with_text: bool
) -> Page:
    """The page; ``nights`` are None where no earlier results were given."""
    changes = list(_rows(drift, nights, noise=False))
    noise = list(_rows(drift, nights, noise=True))
    sections = [
        _causes(drift),
        _table("What changed", changes, nights, "Nothing but noise differs, or nothing."),
    ]
    sections += _details(drift, sides, with_text=with_text)
    sections.append(_table("Noise", noise, nights, "There is none.", is_folded=True))
    sections.append(Section("Words", blocks=[Terms({**_TIERS, **_meanings(drift)})]))
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts = [f"Expected: {sides[0]}", f"Actual: {sides[1]}", f"Made on {made} by dsh-lake."]
    if nights is not None:
        facts.append(f"Compared with {counted(len(nights), 'earlier result')}{_span(nights)}.")
    return Page("Fixture drift", facts, _warnings(drift), _figures(drift, changes), sections)


def _span(nights: Sequence[Night]) -> str:
    return f", {nights[0].name} to {nights[-1].name}" if nights else ""


def _warnings(drift: Drift) -> list[str]:
    warnings = []
    if not drift.compared:
        warnings.append("Nothing was compared: no scenario of one side belongs to one of the other.")
    for scenario in drift.scenarios:
        if scenario.note is not None:
            how = "was compared through the tables" if scenario.compared_by else "was not compared"
            warnings.append(f"{scenario.scenario} {how}: {scenario.note}")
    return warnings


def _figures(drift: Drift, changes: Sequence[Sequence[str]]) -> list[Figure]:
    equal = sum(scenario.is_equal for scenario in drift.scenarios)
    noisy = sum(not scenario.is_equal and _is_noisy(scenario) for scenario in drift.scenarios)
    changed = len(drift.scenarios) - equal - noisy
    verdict = {0: "passes", 1: "not done", 2: "drift"}[drift.exit_code]
    return [
        Figure("Verdict", verdict, "as dsh-lake fixtures drift says"),
        Figure(
            "Changed",
            number(changed),
            counted(len(changes), "difference") + " in sessions, outputs and files",
        ),
        Figure("Noise alone", number(noisy), "no change: random ids, clocks and the like"),
        Figure("Equal", number(equal), f"of {counted(len(drift.scenarios), 'scenario')}"),
    ]


def _is_noisy(scenario: ScenarioDrift) -> bool:
    return scenario.is_workspace_equal is not False and all(
        part.tier == "noise" for part in scenario.differing
    )


def _causes(drift: Drift) -> Section:
    columns = [
        Column("cause", is_code=True),
        Column("tier"),
        Column("severity"),
        Column("scenarios", True),
        Column("what it means"),
    ]
    rows = [
        [cause.cause, cause.tier, cause.severity, number(cause.scenarios), cause.meaning]
        for cause in drift.causes
    ]
    if not rows:
        return Section("What broke", ["Nothing differs."])
    return Section("What broke", blocks=[Table("Causes, the gravest first", columns, rows)])


def _rows(drift: Drift, nights: Sequence[Night] | None, *, noise: bool) -> Iterator[list[str]]:
    tiers = {one["cause"]: one["tier"] for one in drift.known_causes()}
    for scenario in drift.scenarios:
        for cause, part in scenario.causes():
            if (tiers[cause] == "noise") == noise:
                yield _row(scenario, cause, part, nights)


def _row(
    scenario: ScenarioDrift, cause: str, part: PartDrift | None, nights: Sequence[Night] | None
) -> list[str]:
    name = part.name if part is not None else "workspace"
    line = part.first_different_line if part is not None else None
    others = [other for other in sorted(part.causes) if other != cause] if part is not None else []
    files = ", ".join(scenario.workspace_paths[:_MEMBERS]) if part is None else ""
    row = [
        scenario.scenario,
        scenario.run or UNKNOWN,
        name if part is None or part.status == "different" else f"{name} ({part.status})",
        number(line),
        cause,
        ", ".join(others) or files,
    ]
    if nights is not None:
        row.append(since((scenario.scenario, name, cause), nights) or "new")
    return row


def _table(
    title: str,
    rows: Sequence[Sequence[str]],
    nights: Sequence[Night] | None,
    nothing: str,
    *,
    is_folded: bool = False,
) -> Section:
    if not rows:
        return Section(title, [nothing])
    columns = [
        Column("scenario", is_code=True),
        Column("run", is_code=True),
        Column("part"),
        Column("line", is_number=True),
        Column("cause", is_code=True),
        Column("also"),
        *([Column("since")] if nights is not None else []),
    ]
    return Section(
        title, blocks=[Table(counted(len(rows), "difference"), columns, rows, is_folded=is_folded)]
    )


def _details(drift: Drift, sides: tuple[str, str], *, with_text: bool) -> Iterator[Section]:
    """The places of each scenario that changed."""
    changed = [number for number, one in enumerate(drift.scenarios) if one.differing and not _is_noisy(one)]
    shown = changed[:_SCENARIOS]
    tables = [table for number in shown for table in _places(drift, number, sides, with_text=with_text)]
    if tables:
        left = len(changed) - len(shown)
        more = [f"{counted(left, 'more scenario')} changed; the command of each shows it."] if left else []
        yield Section("Every difference, side by side", more, tables)


def _places(drift: Drift, place: int, sides: tuple[str, str], *, with_text: bool) -> Iterator[Table]:
    scenario = drift.scenarios[place]
    rows = [row for row in drift.difference_of(place, with_text=with_text) if row["change"] != "same"]
    if not rows:
        return
    texts = [Column("expected text", is_code=True), Column("actual text", is_code=True)] if with_text else []
    columns = [
        Column("part"),
        Column("change"),
        Column("expected line", is_number=True),
        Column("actual line", is_number=True),
        Column("event", is_code=True),
        Column("cause"),
        Column("members that differ"),
        *texts,
    ]
    left = len(rows) - _PLACES
    command = shlex.join(
        [
            "dsh-lake",
            "fixtures",
            "drift",
            *sides,
            "--diff",
            scenario.run if scenario.run not in (None, ".") else scenario.scenario,
        ]
    )
    title = (
        scenario.scenario
        if scenario.run in (None, ".", scenario.scenario)
        else f"{scenario.scenario} ({scenario.run})"
    )
    note = f"{counted(left, 'more place')} differ." if left > 0 else ""
    yield Table(
        title, columns, [_cells(row, with_text) for row in rows[:_PLACES]], note, command, is_folded=True
    )


def _cells(row: Mapping[str, Any], with_text: bool) -> list[str]:
    members = list(row["members"])
    named = ", ".join(members[:_MEMBERS]) + (
        f", {len(members) - _MEMBERS} more" if len(members) > _MEMBERS else ""
    )
    cells = [
        row["part"] or UNKNOWN,
        row["change"],
        number(row["expected_line"]),
        number(row["actual_line"]),
        " ".join(filter(None, (row["type"], row["tool"]))) or UNKNOWN,
        ", ".join(row["causes"]),
        named,
    ]
    return cells + ([row["expected"] or UNKNOWN, row["actual"] or UNKNOWN] if with_text else [])


def _meanings(drift: Drift) -> dict[str, str]:
    """What the causes that occur mean."""
    met = {cause for scenario in drift.scenarios for part in scenario.differing for cause in part.causes}
    return {
        one["cause"]: f"{one['meaning'][0].upper()}{one['meaning'][1:]}."
        for one in drift.known_causes()
        if one["cause"] in met
    }
