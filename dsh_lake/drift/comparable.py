"""What of a scenario is compared: its logs as the kit normalises them, and the outputs that it expects.

The rule: both sides go through the same steps, each with its own context. Where the kit refuses to bring a
log to today's generation, both sides are compared through the tables that every generation fills, and the
result says so.

Source: spec/snapshot-kit.md sections 7, 8 and 12.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dsh_lake.drift.leaves import record_of
from dsh_lake.drift.sidecars import sidecar_names, sidecars_of
from dsh_lake.drift.sides import Scenario
from dsh_lake.drift.tabled import tabled_log
from dsh_lake.errors import FixtureError
from dsh_lake.fixtures.normalize import normalize_scenario
from dsh_lake.fixtures.strings import Context, Normalizer
from dsh_lake.fixtures.transcript import normalize_notifications, normalize_result, normalize_stdout
from dsh_lake.fixtures.workspace import Entry, capture_expected, capture_workspace, compare_captures

_Normalize = Callable[[str, Context], str]
_TRANSCRIPTS: dict[str, _Normalize] = {
    "stdout": normalize_stdout,
    "notifications": normalize_notifications,
    "result": normalize_result,
}
_WORKSPACE = "workspace"
_VERSION = re.compile(r'"version":\s*(\d+)')


@dataclass
class Part:
    """One text of a scenario on both sides: a session's log by its role, or an expected output by its name.

    None stands for a side that has none.
    """

    role: int | None
    name: str
    expected: list[str] | None
    actual: list[str] | None


@dataclass
class Compared:
    """The parts of a pair of scenarios; ``note`` says what a reader has to know of how they were compared.

    ``is_workspace_equal`` is None where one of the sides has no workspace to be seen. ``workspace_paths``
    are the places at which they differ.
    """

    parts: list[Part] = field(default_factory=list)
    note: str | None = None
    compared_by: str = "normalized"
    is_workspace_equal: bool | None = None
    workspace_paths: list[str] = field(default_factory=list)


def compare(expected: Scenario, actual: Scenario) -> Compared:
    """The comparable parts of a pair.

    Raises:
        FixtureError: the files of one side name no complete set of roles, or neither way can read a log.
        DshLakeError: a file cannot be read wholly.
    """
    result = Compared()
    # What a retained scenario's old files migrate to is not what today's writer gives: that is kept apart.
    logs = (actual.is_run and expected.writer_logs) or expected.logs
    sides = ((expected, logs), (actual, actual.logs))
    texts = [[scenario.text(path) for path in paths] for scenario, paths in sides]
    is_repeated = texts[0] == texts[1] and expected.context == actual.context

    def both(lines_of: Callable[[int], list[str]]) -> list[list[str]]:
        first = lines_of(0)
        return [first, first if is_repeated else lines_of(1)]

    try:
        normalized = both(lambda side: _normalized(sides[side][0], texts[side]))
    except FixtureError as error:
        result.note, result.compared_by = str(error), "tables"
        are_alike = _generations(texts[0]) == _generations(texts[1])
        normalized = both(lambda side: _tabled(*sides[side], with_all=are_alike))
    for role in range(max(map(len, normalized))):
        first, second = (_lines(side[role]) if role < len(side) else None for side in normalized)
        result.parts.append(Part(role, f"session {role}", first, second))
    result.parts += _outputs(expected, actual)
    if actual.is_run and not expected.is_run and result.compared_by == "normalized":
        result.parts += _sidecars(expected, actual, texts[1])
    _compare_workspaces(result, expected, actual)
    return result


def _normalized(scenario: Scenario, texts: Sequence[str]) -> list[str]:
    return normalize_scenario(texts, cwd=scenario.cwd, cwd_aliases=scenario.cwd_aliases, native_writer=True)


def _tabled(scenario: Scenario, paths: Sequence[Path], *, with_all: bool) -> list[str]:
    return [tabled_log(path, scenario.cwd, scenario.cwd_aliases, with_all=with_all) for path in paths]


def _generations(texts: Sequence[str]) -> set[str | None]:
    found = (_VERSION.search(text.split("\n", 1)[0]) for text in texts)
    return {match[1] if match else None for match in found}


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _outputs(expected: Scenario, actual: Scenario) -> list[Part]:
    """Outputs that both sides have: kept ones under their names, a run's also under the plain name."""
    parts = []
    for path in sorted(expected.folder.glob("*.expected*")):
        plain = path.name.replace(".current.expected", "").replace(".expected", "")
        others = [actual.folder / name for name in (path.name, plain)]
        other = next((one for one in others if one.is_file()), None)
        if path.is_file() and other is not None:
            first, second = _output(path, expected), _output(other, actual)
            parts.append(Part(None, path.name, first, second))
    return parts


def _sidecars(expected: Scenario, actual: Scenario, texts: Sequence[str]) -> Iterator[Part]:
    """Prompts and schemas that the fixture keeps, against those of the run."""
    kept = {path.name: path for path in sorted(expected.folder.glob("*.expected.*")) if path.is_file()}
    if not kept.keys() & sidecar_names(len(texts)):
        return
    cwd = actual.cwd or _cwd(texts[0])
    found = sidecars_of(texts, Normalizer(Context(cwd, actual.cwd_aliases)))
    for name in sorted(kept.keys() & found.keys()):
        yield Part(None, name, _lines(expected.text(kept[name])), _lines(found[name]))


def _cwd(log: str) -> str:
    header = record_of(log.split("\n", 1)[0])
    cwd = header.get("cwd") if header is not None else None
    return cwd if isinstance(cwd, str) else ""


def _output(path: Path, scenario: Scenario) -> list[str]:
    text = scenario.text(path)
    normalize = _TRANSCRIPTS.get(path.name.split(".", 1)[0])
    if path.name.startswith("writer."):
        text = normalize_scenario([text], native_writer=True)[0]
    elif normalize is not None:
        cwd = scenario.cwd or "{{cwd}}"
        text = normalize(text, Context(cwd, scenario.cwd_aliases, legacy_ids=True))
    return _lines(text)


def _compare_workspaces(result: Compared, expected: Scenario, actual: Scenario) -> None:
    first, second = _expected_workspace(expected), _actual_workspace(actual)
    if first is not None and second is not None:
        differences = compare_captures(first, second)
        result.workspace_paths = [difference.path for difference in differences]
        result.is_workspace_equal = not differences


def _expected_workspace(scenario: Scenario) -> list[Entry] | None:
    """What a run has to leave: what is expected, else what it began with; None where a setup makes that."""
    if scenario.is_run:
        return _actual_workspace(scenario)
    final = scenario.folder / "workspace.expected"
    if final.is_dir() and not final.is_symlink():
        return capture_expected(final)
    manifest = scenario.manifest
    if manifest is None or (manifest.workspace is not None and manifest.workspace.setup is not None):
        return None
    seed = scenario.folder / _WORKSPACE
    return capture_workspace(seed) if seed.is_dir() and not seed.is_symlink() else []


def _actual_workspace(scenario: Scenario) -> list[Entry] | None:
    """What a run left; nothing where it says where it worked and no folder was kept, since Git keeps none."""
    if not scenario.is_run:
        return _expected_workspace(scenario)
    final = scenario.folder / _WORKSPACE
    if final.is_dir() and not final.is_symlink():
        return capture_workspace(final)
    return [] if scenario.cwd is not None else None
