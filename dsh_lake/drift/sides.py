"""The scenarios of a folder, whether it holds fixtures or what runs left behind, and which belong together.

The rule: a folder with a manifest or with plain session files is a fixture; one with ``run.json``, with
``sessions``, or whose folders are sessions of a store is a run, and its logs are harvested as the kit does:
the highest generation of each session, roots before children, then by time of creation, then by id.

Source: spec/snapshot-kit.md sections 1, 1.2 and 11.1.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from dsh_lake.errors import FixtureError, UnreadableSource
from dsh_lake.fixtures.identity import UUID
from dsh_lake.fixtures.log_files import read_log_file
from dsh_lake.fixtures.manifest import MANIFEST, MAX_BYTES, Manifest, parse_manifest
from dsh_lake.fixtures.names import select_roles
from dsh_lake.real_paths import is_below, true_path
from dsh_lake.sources import log_name, role_name

RUN = "run.json"
STORE = "sessions"
WRITER = "writer.expected.jsonl"
_LONGEST = 1 << 20
"""Bytes of a line that is only looked at."""


@dataclass
class Scenario:
    """One scenario of a side.

    Attributes:
        key: its folder below the side, segments joined by ``/``; ``.`` where it is the side itself.
        folder: where it lies.
        root: the side, beyond which no link is followed.
        is_run: whether it is what a run left behind.
        cwd: where the run worked, None where only its logs say.
    """

    key: str
    folder: Path
    root: Path
    is_run: bool
    stated: str | None = None
    cwd: str | None = None
    cwd_aliases: Sequence[str] = ()
    manifest: Manifest | None = None
    _texts: dict[Path, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called where nothing else tells it apart."""
        return self.stated or self.folder.name

    @property
    def context(self) -> tuple[str | None, tuple[str, ...]]:
        """Where it ran, by all names."""
        return self.cwd, tuple(self.cwd_aliases)

    @cached_property
    def logs(self) -> list[Path]:
        """Its session logs: the parent, then its children in their order.

        Raises:
            FixtureError: the files name no complete set of roles.
            DshLakeError: a log of a run cannot be read.
        """
        return list(self._harvest()) if self.is_run else self._role_files()

    @cached_property
    def writer_logs(self) -> list[Path]:
        """What today's writer gives for a retained scenario, by role; empty where nothing is kept."""
        if self.is_run or not (self.folder / WRITER).exists():
            return []
        children = (self.folder / f"writer.{number}.expected.jsonl" for number in range(1, len(self.logs)))
        return [self.folder / WRITER, *(path for path in children if path.exists())]

    def text(self, path: Path) -> str:
        """The text of one of its files.

        Raises:
            DshLakeError: it cannot be read wholly, or a link to it leads out of the side.
        """
        if path not in self._texts:
            if not is_below(true_path(path, strict=False), str(self.root)):
                raise UnreadableSource(str(path), "a link that leads out of the folder is not followed")
            if not path.is_file():
                raise UnreadableSource(str(path), "no regular file")
            self._texts[path] = read_log_file(path)
        return self._texts[path]

    def forget(self) -> None:
        """Let go of the texts that were read."""
        self._texts.clear()

    def _role_files(self) -> list[Path]:
        folder = self.folder
        if self.manifest is not None and self.manifest.session is not None:
            folder = Path(os.path.normpath(folder / self.manifest.session.source)).parent
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise UnreadableSource(str(folder), error.strerror or str(error)) from error
        return [folder / role.name for role in select_roles(names)]

    def _harvest(self) -> Iterator[Path]:
        found = []
        for path in _newest_logs(self.folder):
            header = _header(self.text(path), path)
            is_child = isinstance(header.get("parentSession"), str)
            created = header.get("createdAt")
            found.append((is_child, created if isinstance(created, int) else 0, str(header.get("id")), path))
        return (path for *_, path in sorted(found))


class Pair(NamedTuple):
    """A scenario of each side; None where one side has none."""

    name: str
    expected: Scenario | None
    actual: Scenario | None


def scenarios_of(side: str | os.PathLike[str]) -> list[Scenario]:
    """Every scenario of a side, by path.

    Raises:
        UnreadableSource: there is no such folder, or it cannot be listed.
    """
    root = Path(true_path(side, strict=False))
    if not root.is_dir():
        raise UnreadableSource(os.fspath(side), "no folder of fixtures or runs")
    return list(_found(root, root))


def pairs_of(expected: Sequence[Scenario], actual: Sequence[Scenario]) -> list[Pair]:
    """Which scenarios belong together: by path, else by the name that a run states, else by a folder's name.

    Several runs of one scenario are a pair each. What stays alone on one side is missing or added.
    """
    if len(expected) == len(actual) == 1 and "." in (expected[0].key, actual[0].key):
        return [Pair(_alone(expected[0], actual[0]), expected[0], actual[0])]
    by_key = {scenario.key: scenario for scenario in expected}
    partners: dict[str, list[Scenario]] = defaultdict(list)
    added = []
    for scenario in actual:
        partner = by_key.get(scenario.key) or _partner(scenario, expected)
        if partner is None:
            added.append(scenario)
        else:
            partners[partner.key].append(scenario)
    pairs = []
    for scenario in expected:
        found = partners[scenario.key]
        pairs += [Pair(_shown(scenario), scenario, one) for one in found]
        pairs += [] if found else [Pair(_shown(scenario), scenario, None)]
    return pairs + [Pair(_shown(scenario), None, scenario) for scenario in added]


def _alone(expected: Scenario, actual: Scenario) -> str:
    return _shown(expected) if expected.key != "." or actual.key == "." else _shown(actual)


def _shown(scenario: Scenario) -> str:
    return scenario.key if scenario.key != "." else scenario.name


def _partner(scenario: Scenario, expected: Sequence[Scenario]) -> Scenario | None:
    """The one expected scenario that has the run's name, or that of a folder that it lies in."""
    segments = scenario.key.split("/")
    folders = ["/".join(segments[:length]) for length in range(len(segments), 0, -1)]
    by_path = [one for folder in folders for one in expected if one.key == folder]
    if by_path and scenario.stated in (None, by_path[0].name):
        return by_path[0]
    for name in [scenario.stated] if scenario.stated else segments[::-1]:
        alike = [one for one in expected if name in (one.key, one.name, one.key.rsplit("/", 1)[-1])]
        if len(alike) == 1:
            return alike[0]
    return None


def _found(folder: Path, root: Path) -> Iterator[Scenario]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        raise UnreadableSource(str(folder), error.strerror or str(error)) from error
    files = {entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)}
    folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    key = folder.relative_to(root).as_posix()
    if RUN in files or STORE in folders:
        yield _run(key, folder, root)
    elif MANIFEST in files or _has_fixture(folder, files):
        yield _fixture(key, folder, root)
    elif _has_log(files) or any(_is_session(folder / name) for name in folders):
        yield _run(key, folder, root)
    else:
        for name in folders:
            yield from _found(folder / name, root)


def _has_log(files: set[str]) -> bool:
    return any(log_name(name) is not None for name in files)


def _has_fixture(folder: Path, files: set[str]) -> bool:
    """Whether there are session files of a fixture: plain ones, in no session's folder of a store."""
    return any(role_name(name) is not None for name in files) and not _is_session(folder)


def _is_session(folder: Path) -> bool:
    """Whether a folder is a session's in a store: compressed, or complete and called as the session is."""
    try:
        names = [name for name in os.listdir(folder) if log_name(name) is not None]
    except OSError:
        return False
    if any(name.endswith(".zstd") for name in names):
        return True
    if not UUID.search(folder.name):
        return False
    begins = [_begin(folder / name) for name in names]
    return any(
        begin[0].get("id") == folder.name and all("seq" in row or "seq0" in row for row in begin[1:])
        for begin in begins
        if begin
    )


def _begin(path: Path) -> list[dict[str, Any]]:
    """The first two records of a plain log; what is no record is none."""
    records = []
    try:
        if path.is_file():
            with open(path, "rb") as file:
                for line in (file.readline(_LONGEST), file.readline(_LONGEST)):
                    records.append(msgspec.json.decode(line, type=dict[str, Any]))
    except (OSError, msgspec.MsgspecError):
        pass
    return records


def _fixture(key: str, folder: Path, root: Path) -> Scenario:
    scenario = Scenario(key, folder, root, is_run=False)
    path = folder / MANIFEST
    try:
        if path.is_file() and path.stat().st_size <= MAX_BYTES:
            scenario.manifest = parse_manifest(path.read_text("utf-8", "replace"), f"{key}/{MANIFEST}")
            scenario.stated = scenario.manifest.scenario
    except (FixtureError, OSError):
        pass  # What is wrong with a manifest is for the guards to say; the logs are compared all the same.
    return scenario


def _run(key: str, folder: Path, root: Path) -> Scenario:
    scenario = Scenario(key, folder, root, is_run=True)
    path = folder / RUN
    try:
        is_small = path.is_file() and path.stat().st_size <= MAX_BYTES
        about = msgspec.json.decode(path.read_bytes()) if is_small else None
    except (OSError, msgspec.MsgspecError):
        return scenario
    if isinstance(about, dict):
        stated, cwd, aliases = about.get("scenario"), about.get("cwd"), about.get("cwdAliases")
        scenario.stated = stated if isinstance(stated, str) and stated else None
        scenario.cwd = cwd if isinstance(cwd, str) and cwd else None
        scenario.cwd_aliases = (
            [one for one in aliases if isinstance(one, str)] if isinstance(aliases, list) else []
        )
    return scenario


def _newest_logs(folder: Path) -> Iterator[Path]:
    """Of each session's folder the log of the highest generation."""
    store = folder / STORE
    for place, folders, names in os.walk(store if store.is_dir() else folder):
        if not store.is_dir() and Path(place) == folder:
            folders[:] = [name for name in folders if name != "workspace"]
        logs = [(parsed[0], name) for name in names if (parsed := log_name(name)) is not None]
        if logs:
            yield Path(place) / max(logs)[1]


def _header(text: str, path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text.lstrip("\n").split("\n", 1)[0], type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise FixtureError(f"{path}: session snapshot must begin with a session header") from error
