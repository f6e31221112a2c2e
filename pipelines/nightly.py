#!/usr/bin/env python3
"""What to look at in the morning: scan, check, compare with a baseline, all of it in a folder by date.

    python pipelines/nightly.py --lake LAKE --reports REPORTS [--fixtures TREE --runs RUNS] [ROOT...]

The first night saves the baseline that later nights are compared with; `dsh-lake baseline --save nightly`
sets it anew. Each night becomes `REPORTS/<date>/`, readable by its owner alone:

    night.json              every step: how it ended, how long it took, and what it found
    night.md                the same for people
    scan.json, check.json, baseline.json    the whole result of a step
    usage.md, usage.html    the usage report; the second needs the extra `report`
    drift.json, drift.html  with --fixtures and --runs: how the runs differ from the fixtures, and since when;
                            the first is also kept as `REPORTS/drift/<date>.json` for the nights to come

The rule: a step that fails is named and the others are run all the same; a night is there wholly or not at
all, and one that is run again on its day takes the place of the earlier one.

Exit codes: 0 nothing to look at; 2 findings (a check failed, a measure moved, a run drifted, something could
not be read); 1 a step could not do its work, or the command line makes no sense; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import dsh_lake

BASELINE = "nightly"
Result = dict[str, Any]


class Step(NamedTuple):
    """One thing that is done: its name (of a report, that of its file), how, and what of its result is to be
    looked at."""

    name: str
    run: Callable[[], Result]
    findings: Callable[[Result], list[str]]


class Ended(NamedTuple):
    """How a step ended: ``state`` is ``clean``, ``findings`` or ``failed``; ``notes`` say why."""

    name: str
    state: str
    elapsed_s: float
    notes: list[str]
    result: Result | None


# -- the steps ---------------------------------------------------------------------------------------------


def steps(roots: Sequence[str], lake: Path, night: Path, baseline: str) -> list[Step]:
    """The steps in their order; a report is written into the folder ``night``."""
    return [
        Step("scan", lambda: dsh_lake.scan(list(roots) or None, lake=lake), _unread),
        Step("check", lambda: dsh_lake.check(lake), _failed_checks),
        Step("baseline", lambda: compared(lake, baseline), _moved),
        *(
            Step(name, partial(dsh_lake.report_usage, night / name, lake=lake), lambda _: [])
            for name in ("usage.md", "usage.html")
        ),
    ]


def drift_steps(fixtures: Path, runs: Path, night: Path, history: Path) -> list[Step]:
    """The steps of fixture drift; ``history`` is the folder of what differed in earlier nights."""
    found = cache(partial(dsh_lake.fixtures_drift, fixtures, runs))

    def drifted() -> Result:
        """What differs; that nothing was compared or something not read is an error."""
        if found().exit_code == 1:
            what = "something could not be read" if found().compared else "no scenario is on both sides"
            raise dsh_lake.DshLakeError(f"{fixtures} against {runs}: {what}")
        return found().document()

    def page() -> Result:
        report = dsh_lake.report_drift(fixtures, runs, format="html", earlier=history, found=found())
        _write(night / "drift.html", report.text)
        return {}

    return [Step("drift", drifted, _drift_causes), Step("drift.html", page, lambda _: [])]


def compared(lake: Path, name: str) -> Result:
    """The measures since the baseline was saved; where there is none yet, it is saved now."""
    if (lake / "baselines" / f"{name}.json").exists():
        return dsh_lake.baseline(lake, compare=name)
    return dsh_lake.baseline(lake, save=name)


def _unread(summary: Result) -> list[str]:
    return [
        f"{finding['code']}: {finding['message']}"
        for finding in summary["findings"]
        if finding["severity"] == "fail"
    ]


def _failed_checks(result: Result) -> list[str]:
    return [
        f"{check['name']}: {check['findings']:,} findings: {check['doc']}"
        for check in result["checks"]
        if check["severity"] == "fail" and check["findings"]
    ]


def _moved(result: Result) -> list[str]:
    comparison = result["comparison"]
    return [
        f"{shift['measure']} moved from {shift['then']:,.6g} to {shift['now']:,.6g} "
        f"(usual: {shift['low']:,.6g} to {shift['high']:,.6g})"
        for shift in (comparison["measures"] if comparison else [])
        if shift["verdict"] == "moved"
    ]


def _drift_causes(result: Result) -> list[str]:
    return [
        f"{cause['cause']}: {cause['parts']:,} differences in {cause['scenarios']:,} scenarios: "
        f"{cause['meaning']}"
        for cause in result["causes"]
        if cause["severity"] == "fail"
    ]


# -- the night ---------------------------------------------------------------------------------------------


def run(step: Step) -> Ended:
    """Run a step; what it raises becomes its end."""
    started = time.monotonic()
    try:
        result = step.run()
        notes = step.findings(result)
        state = "findings" if notes else "clean"
    except Exception as error:  # Whatever it is: the other steps are worth having.
        result, state = None, "failed"
        notes = [
            str(error) if isinstance(error, dsh_lake.DshLakeError) else f"{type(error).__name__}: {error}"
        ]
    return Ended(step.name, state, round(time.monotonic() - started, 1), notes, result)


def write(night: Path, date: str, ended: Sequence[Ended]) -> None:
    """Write what every step found."""
    for step in ended:
        if step.result is not None and not (night / step.name).exists():
            _write(night / f"{step.name}.json", _json(step.result))
    told = [
        {"name": step.name, "state": step.state, "elapsed_s": step.elapsed_s, "notes": step.notes}
        for step in ended
    ]
    _write(night / "night.json", _json({"date": date, "exit_code": exit_code(ended), "steps": told}))
    _write(night / "night.md", markdown(date, ended))


def markdown(date: str, ended: Sequence[Ended]) -> str:
    """The night for people. Texts that come from archives are shown as code, so that they stay texts."""
    lines = [f"# Night of {date}", "", "| step | ended | s |", "|---|---|---|"]
    lines += [f"| {step.name} | {step.state} | {step.elapsed_s} |" for step in ended]
    for step in ended:
        if step.notes:
            lines += ["", f"## {step.name}: {step.state}", ""]
            lines += [f"- {_code(note)}" for note in step.notes]
    return "\n".join([*lines, ""])


def _code(text: str) -> str:
    printable = "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
    return "`` " + printable.replace("``", "` `") + " ``"


def exit_code(ended: Sequence[Ended]) -> int:
    """The gravest of what happened: a failed step before findings."""
    states = {step.state for step in ended}
    return 1 if "failed" in states else 2 if "findings" in states else 0


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", errors="backslashreplace")
    path.chmod(0o600)


def keep_drift(ended: Sequence[Ended], history: Path, date: str) -> None:
    """Keep what differed, for the question since when it does."""
    for step in ended:
        if step.name == "drift" and step.result is not None:
            _write(history / f"{date}.json", _json(step.result))


def put_in_place(unfinished: Path, night: Path) -> None:
    """Make a finished night visible; an earlier one of the same day makes room for it."""
    former = unfinished.with_name(f"{unfinished.name}.former")
    if night.exists():
        night.rename(former)
    unfinished.rename(night)
    shutil.rmtree(former, ignore_errors=True)


class _Parser(argparse.ArgumentParser):
    """A command line that makes no sense is no finding."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a night; returns the exit code."""
    parser = _Parser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("roots", nargs="*", metavar="ROOT", help="default: $DSH_HOME, else ~/.dsh")
    parser.add_argument("--lake", type=Path, required=True)
    parser.add_argument(
        "--reports", type=Path, required=True, help="folder that gets a folder for each night"
    )
    parser.add_argument(
        "--baseline", default=BASELINE, help="name of the saved baseline (default: %(default)s)"
    )
    parser.add_argument("--fixtures", type=Path, help="a tree of fixtures; with --runs")
    parser.add_argument("--runs", type=Path, help="fresh runs of them")
    parser.add_argument("--date", type=date.fromisoformat, default=date.today(), help="default: today")
    chosen = parser.parse_args(arguments)
    if (chosen.fixtures is None) != (chosen.runs is None):
        parser.error("--fixtures and --runs go together")
    day, history = str(chosen.date), chosen.reports / "drift"
    (history if chosen.fixtures is not None else chosen.reports).mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{day}.", dir=chosen.reports))
    try:
        planned = steps(chosen.roots, chosen.lake, unfinished, chosen.baseline)
        if chosen.fixtures is not None:
            planned += drift_steps(chosen.fixtures, chosen.runs, unfinished, history)
        ended = [run(step) for step in planned]
        write(unfinished, day, ended)
        put_in_place(unfinished, chosen.reports / day)
        keep_drift(ended, history, day)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for step in ended:
        print(f"{step.name}: {step.state}", *step.notes, sep="\n  ", file=sys.stderr)
    print(os.fspath(chosen.reports / day))
    return exit_code(ended)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
