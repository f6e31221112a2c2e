"""What a comparison of two sides says: equal or not, by scenario and role, and the handful of causes.

The rule: each role that differs has one cause, the gravest of its differences; a comparison that compared
nothing is no success; texts of logs are given out only to who asks for them.

Source: spec/interface.md (fixtures drift).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dsh_lake.drift.comparison import Comparison
from dsh_lake.drift.severity import DEFAULT, read_severities
from dsh_lake.drift.sides import Pair, Scenario, pairs_of, scenarios_of
from dsh_lake.errors import DshLakeError, UsageError
from dsh_lake.sources import printable


@dataclass(frozen=True, slots=True)
class PartDrift:
    """One session of a scenario by its role, or one expected output by its name, and how it differs.

    ``causes`` are all of its causes, ``cause`` the gravest; ``first_different_line`` counts normalised lines.
    """

    role: int | None
    name: str
    status: str
    first_different_line: int | None = None
    cause: str | None = None
    tier: str | None = None
    causes: tuple[str, ...] = ()
    places: int = 0

    def document(self) -> dict[str, Any]:
        """As plain values; ``role`` for a session, ``name`` for an output."""
        about = {"role": self.role} if self.role is not None else {"name": self.name}
        return {
            **about,
            "status": self.status,
            "first_different_line": self.first_different_line,
            "cause": self.cause,
            "tier": self.tier,
            "is_noise": self.tier == "noise",
        }


@dataclass(frozen=True, slots=True)
class ScenarioDrift:
    """One scenario and one run of it.

    Attributes:
        scenario: name of the scenario.
        run: the folder of the actual side, None where it has none.
        path: the folder as it was given: of the expected side, else of the actual one.
        roles: its sessions.
        outputs: its expected outputs that both sides have.
        is_workspace_equal: None where it cannot be told.
        workspace_paths: files at which the workspaces differ.
        compared_by: ``normalized``, or ``tables`` where a log cannot be brought to today's generation.
        note: why that is so, or why the scenario could not be compared.
    """

    scenario: str
    run: str | None
    path: str
    roles: tuple[PartDrift, ...]
    outputs: tuple[PartDrift, ...] = ()
    is_workspace_equal: bool | None = None
    workspace_paths: tuple[str, ...] = ()
    compared_by: str | None = None
    note: str | None = None

    @property
    def is_equal(self) -> bool:
        """Whether nothing at all differs."""
        return not self.differing and self.is_workspace_equal is not False

    @property
    def differing(self) -> list[PartDrift]:
        """The sessions and outputs that differ."""
        return [part for part in (*self.roles, *self.outputs) if part.status != "equal"]

    def causes(self) -> Iterator[tuple[str, PartDrift | None]]:
        """The gravest cause of each part that differs, and of the workspace."""
        for part in self.differing:
            yield str(part.cause), part
        if self.is_workspace_equal is False:
            yield "workspace-changed", None

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "scenario": self.scenario,
            "run": self.run,
            "equal": self.is_equal,
            "roles": [role.document() for role in self.roles],
            "outputs": [output.document() for output in self.outputs],
            "workspace_equal": self.is_workspace_equal,
            "workspace_paths": list(self.workspace_paths),
            "compared_by": self.compared_by,
            "note": self.note,
        }


class Cause(NamedTuple):
    """What differences come from: how many scenarios, and parts of them, have it as their gravest."""

    cause: str
    tier: str
    severity: str
    meaning: str
    scenarios: int
    parts: int


class DriftRemark(NamedTuple):
    """One part that differs, as reports for other programs tell it."""

    path: str
    severity: str
    code: str
    message: str
    physical_line: int | None


class DriftCase(NamedTuple):
    """One scenario, as reports for other programs tell it."""

    path: str
    status: str
    code: str | None
    message: str | None


@dataclass
class Drift:
    """Everything that differs between two sides.

    Attributes:
        scenarios: every scenario of either side with each of its runs, those of the expected side first.
        severities: how grave a difference of each tier is.
        is_unreadable: whether something could not be read.
    """

    comparison: Comparison
    severities: Mapping[str, str]
    scenarios: list[ScenarioDrift] = field(default_factory=list)
    is_unreadable: bool = False
    suite: str = "drift"

    @property
    def compared(self) -> int:
        """How many scenarios of both sides were compared."""
        return sum(scenario.compared_by is not None for scenario in self.scenarios)

    @property
    def is_equal(self) -> bool:
        """Whether nothing at all differs, and something was compared."""
        return self.compared > 0 and all(scenario.is_equal for scenario in self.scenarios)

    @property
    def exit_code(self) -> int:
        """0: nothing of severity fail differs. 1: nothing was compared, or something not read. 2: drift."""
        if self.is_unreadable or not self.compared:
            return 1
        return 2 if any(cause.severity == "fail" for cause in self.causes) else 0

    @property
    def causes(self) -> list[Cause]:
        """What the differences come from, the gravest first."""
        parts: Counter[str] = Counter()
        scenarios: defaultdict[str, set[int]] = defaultdict(set)
        for number, scenario in enumerate(self.scenarios):
            for cause, _ in scenario.causes():
                parts[cause] += 1
                scenarios[cause].add(number)
        return [
            Cause(
                one["cause"],
                one["tier"],
                self.severities[one["tier"]],
                one["meaning"],
                len(scenarios[one["cause"]]),
                parts[one["cause"]],
            )
            for one in self.known_causes()
            if parts[one["cause"]]
        ]

    def known_causes(self) -> list[dict[str, Any]]:
        """Every cause that there is, the gravest first: ``cause``, ``tier`` and ``meaning``."""
        found = self.comparison.rules.fetch("from drift_causes order by rank")
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    def document(self) -> dict[str, Any]:
        """As plain values, as ``--format json`` prints it."""
        return {
            "equal": self.is_equal,
            "compared": self.compared,
            "causes": [cause._asdict() for cause in self.causes],
            "scenarios": [scenario.document() for scenario in self.scenarios],
        }

    # -- one scenario --------------------------------------------------------------------------------------

    def difference(self, scenario: str, *, with_text: bool = False) -> list[dict[str, Any]]:
        """The whole aligned difference of a scenario's parts: one row per line of either side, in order.

        Args:
            scenario: its name, or the folder of its run where there are several.
            with_text: also the normalised lines themselves, which may hold what is private.

        Returns:
            ``scenario``, ``run``, ``part``, ``change`` (``same``, ``changed``, ``added`` or ``removed``),
            ``expected_line``, ``actual_line``, ``type``, ``tool``, ``causes`` and ``members`` (those that
            differ), ``expected_sha256`` and ``actual_sha256`` of the lines; with texts ``expected`` and
            ``actual``. Parts that are equal have no rows.

        Raises:
            UsageError: there is no such scenario.
        """
        numbers = [
            number
            for number, one in enumerate(self.scenarios)
            if scenario in (one.run, one.scenario, one.scenario.rsplit("/", 1)[-1])
        ]
        if not numbers:
            raise UsageError(f"no scenario is called {scenario}")
        exact = [number for number in numbers if self.scenarios[number].run == scenario]
        return [row for number in exact or numbers for row in self.difference_of(number, with_text=with_text)]

    def difference_of(self, number: int, *, with_text: bool = False) -> Iterator[dict[str, Any]]:
        """The same of the scenario at one place of :attr:`scenarios`."""
        about = {"scenario": self.scenarios[number].scenario, "run": self.scenarios[number].run}
        compared = self.comparison.compared[number]
        for row in self.comparison.difference(number):
            part = compared.parts[row.pop("part")] if compared is not None else None
            texts = {side: row.pop(f"{side}_text") for side in ("expected", "actual")}
            yield {**about, "part": part and part.name, **row, **(texts if with_text else {})}

    # -- reports for other programs ------------------------------------------------------------------------

    @property
    def remarks(self) -> list[DriftRemark]:
        """One remark for each part that differs by more than is only told."""
        return [remark for scenario in self.scenarios for remark in self._remarks(scenario)]

    def by_case(self) -> list[tuple[DriftCase, list[DriftRemark]]]:
        """Each scenario with its remarks."""
        cases = []
        for scenario in self.scenarios:
            remarks = self._remarks(scenario)
            fault = next((remark for remark in remarks if remark.severity == "fail"), None)
            code, message = (fault.code, fault.message) if fault is not None else (None, None)
            status = "sound" if fault is None else "unreadable" if code == "unreadable" else "invalid"
            cases.append((DriftCase(_case_path(scenario), status, code, message), remarks))
        return cases

    def _remarks(self, scenario: ScenarioDrift) -> list[DriftRemark]:
        tiers = {one["cause"]: (one["tier"], one["meaning"]) for one in self.known_causes()}
        remarks = []
        for cause, part in scenario.causes():
            tier, meaning = tiers[cause]
            severity = self.severities[tier]
            if severity != "info":
                message = _message(scenario, part, meaning)
                remarks.append(DriftRemark(scenario.path, severity, cause, message, None))
        return remarks


def _case_path(scenario: ScenarioDrift) -> str:
    """The path of the scenario, and its run where that is called otherwise: a scenario may have several."""
    is_plain = scenario.run in (None, ".", scenario.scenario)
    return scenario.path if is_plain else f"{scenario.path} ({printable(str(scenario.run))})"


def _message(scenario: ScenarioDrift, part: PartDrift | None, meaning: str) -> str:
    about = f"{scenario.scenario}: "
    if part is None:
        return f"{about}workspace: {meaning}: {', '.join(map(printable, scenario.workspace_paths[:5]))}"
    place = f" from line {part.first_different_line}" if part.first_different_line is not None else ""
    note = f" ({scenario.note})" if scenario.note else ""
    return f"{about}{part.name}{place}: {meaning}{note}"


def fixtures_drift(
    expected: str | os.PathLike[str],
    actual: str | os.PathLike[str],
    *,
    config: str | os.PathLike[str] | None = None,
) -> Drift:
    """What differs between fixtures and fresh runs, or between two trees of either.

    Args:
        expected: a tree of fixtures, a folder of runs, or one of these alone.
        actual: what is compared with it.
        config: a file that says how grave each tier is; see :mod:`dsh_lake.drift.severity`.

    Returns:
        Every scenario of both sides. Logs are compared as the kit compares them, each side with its own
        context; of what differs the cause is told. Nothing is written, and no link is followed out of a side.

    Raises:
        UnreadableSource: a side is no folder, or cannot be listed.
        UsageError: the configuration says what cannot be.
    """
    severities = read_severities(config) if config is not None else DEFAULT
    pairs = pairs_of(scenarios_of(expected), scenarios_of(actual))
    drift = Drift(Comparison(pairs), severities)
    drift.is_unreadable = any(is_unreadable for _, is_unreadable in drift.comparison.faults.values())
    roots = (os.fspath(expected), os.fspath(actual))
    drift.scenarios = list(_scenarios(drift.comparison, roots))
    return drift


def _scenarios(comparison: Comparison, roots: tuple[str, str]) -> Iterator[ScenarioDrift]:
    parts = _parts(comparison)
    for number, pair in enumerate(comparison.pairs):
        compared = comparison.compared[number]
        run = pair.actual.key if pair.actual is not None else None
        scenario, root = (pair.expected, roots[0]) if pair.expected is not None else (pair.actual, roots[1])
        path = printable(os.path.normpath(os.path.join(root, scenario.key if scenario is not None else "")))
        if compared is None:
            note, roles = _uncompared(comparison, number, pair)
            yield ScenarioDrift(pair.name, run, path, tuple(roles), note=note)
            continue
        yield ScenarioDrift(
            pair.name,
            run,
            path,
            tuple(part for part in parts[number] if part.role is not None),
            tuple(part for part in parts[number] if part.role is None),
            compared.is_workspace_equal,
            tuple(compared.workspace_paths),
            compared.compared_by,
            compared.note,
        )


def _uncompared(comparison: Comparison, number: int, pair: Pair) -> tuple[str | None, list[PartDrift]]:
    if number in comparison.faults:
        note, is_unreadable = comparison.faults[number]
        return note, [_alone(0, "different", "unreadable" if is_unreadable else "not-comparable")]
    if pair.expected is not None:
        return None, [_alone(role, "missing", "scenario-missing") for role in _roles(pair.expected)]
    return None, [_alone(role, "added", "scenario-added") for role in _roles(pair.actual)]


def _roles(scenario: Scenario | None) -> range:
    """The roles of a scenario that is alone; one where they cannot be told."""
    try:
        return range(max(len(scenario.logs), 1) if scenario is not None else 1)
    except DshLakeError:
        return range(1)


def _alone(role: int, status: str, cause: str) -> PartDrift:
    return PartDrift(role, f"session {role}", status, None, cause, "shape", (cause,))


def _parts(comparison: Comparison) -> dict[int, list[PartDrift]]:
    query = """
        select p.pair, p.part, p.role, p.has_expected, p.has_actual, e.first_different_line, v.cause, v.tier,
            v.causes, v.places
        from drift.parts as p
        left join drift_equality as e on e.pair = p.pair and e.part = p.part
        left join drift_verdicts as v on v.pair = p.pair and v.part = p.part
        order by p.pair, p.part
    """
    found: defaultdict[int, list[PartDrift]] = defaultdict(list)
    for row in comparison.rules.fetch(query).to_pylist():
        compared = comparison.compared[row["pair"]]
        name = compared.parts[row["part"]].name if compared is not None else ""
        found[row["pair"]].append(_part(row, name))
    return found


def _part(row: Mapping[str, Any], name: str) -> PartDrift:
    role = row["role"]
    if not row["has_actual"]:
        return PartDrift(role, name, "missing", None, "role-missing", "shape", ("role-missing",))
    if not row["has_expected"]:
        return PartDrift(role, name, "added", None, "role-added", "shape", ("role-added",))
    if row["first_different_line"] is None:
        return PartDrift(role, name, "equal")
    return PartDrift(
        role,
        name,
        "different",
        row["first_different_line"],
        row["cause"],
        row["tier"],
        tuple(row["causes"]),
        row["places"],
    )
