"""The fixture ``cassette``: a test records its sub-agents once and replays them ever after.

    async def test_plan(cassette):
        async with cassette.play(upstream=my_provider) as provider:
            await my_program(provider)

The cassette lies in ``cassettes/<test module>/<test>.cassette.jsonl`` beside the test. ``--cassette-record``
says what happens, as in the plug-ins for VCR: ``none`` (default) only replays, ``once`` records what has no
cassette yet, ``all`` records everything anew. The mark ``@pytest.mark.cassette("name", ...)`` names the file
(without its suffix) and gives options of replay: ``timing``, ``speed``, ``duplicate_policy``,
``allow_redacted``. Fixtures to override: ``cassette_dir``, ``cassette_recording`` (options of recording).

A replay that ends without an error checks that every recorded call was asked for.

With ``--dsh-fixtures TREE`` every scenario of a tree of committed sessions is a test of its own: the guards
have to find nothing, and with ``--dsh-runs RUNS`` the fresh runs have to equal it, noise aside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dsh_lake.errors import UsageError

if TYPE_CHECKING:
    from dsh_lake.cassette.provider import SubagentProvider
    from dsh_lake.cassette.recording import RecordingProvider
    from dsh_lake.cassette.replay import ReplayProvider
    from dsh_lake.drift.verdict import Drift
    from dsh_lake.fixtures.findings import FixtureCheck

MODES = ("none", "once", "all")
_NOT_IN_NAMES = re.compile(r"[^\w.\-\[\]]+")


@dataclass(frozen=True, slots=True)
class CassetteOfTest:
    """The cassette of one test.

    Attributes:
        path: where it lies, or will lie.
        is_recorded_now: whether :meth:`play` records; otherwise it replays.
    """

    path: Path
    is_recorded_now: bool
    replaying: Mapping[str, Any] = field(default_factory=dict)
    recording: Mapping[str, Any] = field(default_factory=dict)

    def play(self, upstream: SubagentProvider | None = None) -> RecordingProvider | ReplayProvider:
        """The provider to run the test with, as an asynchronous context manager.

        Args:
            upstream: what to record; not looked at when the cassette is replayed.

        Raises:
            UsageError: there is no cassette, and it is not to be recorded.
            CassetteError: the cassette is not sound, or there is nothing to record.
        """
        if self.is_recorded_now:
            from dsh_lake.cassette.recording import RecordingProvider

            return RecordingProvider(upstream, self.path, mode="truncate", **self.recording)
        if not self.path.is_file():
            raise UsageError(f"{self.path}: no cassette; record it with --cassette-record=once")
        from dsh_lake.cassette.replay import ReplayProvider

        return ReplayProvider(self.path, **self.replaying)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--cassette-record``, ``--dsh-fixtures`` and ``--dsh-runs``."""
    group = parser.getgroup("cassette", "recorded sub-agents")
    group.addoption(
        "--cassette-record",
        choices=MODES,
        default="none",
        help="none: replay only (default); once: record what has no cassette; all: record everything anew.",
    )
    group = parser.getgroup("dsh", "committed sessions")
    group.addoption(
        "--dsh-fixtures", metavar="TREE", help="each scenario of this tree of fixtures is a test."
    )
    group.addoption("--dsh-runs", metavar="RUNS", help="fresh runs that have to equal the fixtures.")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers", "cassette(name=None, **replay): the cassette of this test, and how it is replayed"
    )


@pytest.fixture
def cassette_dir(request: pytest.FixtureRequest) -> Path:
    """The folder for the cassettes of a test module."""
    return request.path.parent / "cassettes" / request.path.stem


@pytest.fixture
def cassette_recording() -> Mapping[str, Any]:
    """Options of :class:`dsh_lake.cassette.RecordingProvider`, such as ``request_storage``."""
    return {}


@pytest.fixture
def cassette(
    request: pytest.FixtureRequest, cassette_dir: Path, cassette_recording: Mapping[str, Any]
) -> CassetteOfTest:
    """The cassette of this test; its ``play`` gives the provider."""
    mark = request.node.get_closest_marker("cassette")
    name = mark.args[0] if mark is not None and mark.args else _NOT_IN_NAMES.sub("-", request.node.name)
    path = cassette_dir / f"{name}.cassette.jsonl"
    mode = request.config.getoption("--cassette-record")
    is_recorded_now = mode == "all" or (mode == "once" and not path.is_file())
    return CassetteOfTest(
        path, is_recorded_now, dict(mark.kwargs) if mark is not None else {}, cassette_recording
    )


class ScenarioFailed(Exception):
    """A scenario is not sound, or its runs are not what the fixture says; the message has a line for each."""


class FixtureTreeTests:
    """What the tests of one tree share: its guards are run once, and its runs are compared once."""

    def __init__(self, tree: str, runs: str | None) -> None:
        self._tree = tree
        self._runs = runs

    @cached_property
    def checked(self) -> FixtureCheck:
        """What the guards found."""
        from dsh_lake.fixtures.guards import fixtures_check

        return fixtures_check(self._tree)

    @cached_property
    def drift(self) -> Drift | None:
        """What differs from the fixtures, None where no runs were given."""
        if self._runs is None:
            return None
        from dsh_lake.drift.verdict import fixtures_drift

        return fixtures_drift(self._tree, self._runs)

    def names(self) -> list[str]:
        """The scenarios of the tree, then those that were run without a fixture, then the tree as a whole."""
        names = dict.fromkeys(self.checked.scenarios)
        if self.drift is not None:
            names.update(dict.fromkeys(scenario.scenario for scenario in self.drift.scenarios))
        is_about_all = any(finding.scenario is None for finding in self.checked.findings)
        return [*names, *(["."] if is_about_all else [])]

    def failures(self, name: str) -> list[str]:
        """What is wrong with a scenario, of severity fail."""
        about = None if name == "." else name
        lines = [
            f"{finding.code}: {finding.path}: {finding.explained().message}"
            for finding in self.checked.findings
            if finding.scenario == about and finding.severity == "fail"
        ]
        lines += self._drifted(name)
        return lines

    def _drifted(self, name: str) -> list[str]:
        if self.drift is None:
            return []
        cases = zip(self.drift.scenarios, self.drift.by_case(), strict=True)
        return [
            f"{remark.code}: {'no run' if scenario.run is None else scenario.run}: {remark.message}"
            for scenario, (_, remarks) in cases
            for remark in remarks
            if scenario.scenario == name and remark.severity == "fail"
        ]


class ScenarioTest(pytest.Item):
    """One scenario of a tree of fixtures."""

    def __init__(self, *, tests: FixtureTreeTests, **given: Any) -> None:
        super().__init__(**given)
        self._tests = tests

    def runtest(self) -> None:
        """Fail with everything that is wrong."""
        failures = self._tests.failures(self.name)
        if failures:
            raise ScenarioFailed("\n".join(failures))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The lines alone, without a traceback."""
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """How the test is called."""
        return self.path, None, f"dsh scenario {self.name}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the scenarios of ``--dsh-fixtures``."""
    tree, runs = config.getoption("--dsh-fixtures"), config.getoption("--dsh-runs")
    if tree is None and runs is not None:
        raise pytest.UsageError("--dsh-runs needs --dsh-fixtures TREE")
    if tree is None:
        return
    from dsh_lake.errors import DshLakeError

    tests = FixtureTreeTests(tree, runs)
    try:
        names = tests.names()
    except DshLakeError as error:
        raise pytest.UsageError(str(error)) from error
    items += [ScenarioTest.from_parent(session, name=name, tests=tests) for name in names]
