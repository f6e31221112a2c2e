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
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dsh_lake.errors import UsageError

if TYPE_CHECKING:
    from dsh_lake.cassette.provider import SubagentProvider
    from dsh_lake.cassette.recording import RecordingProvider
    from dsh_lake.cassette.replay import ReplayProvider

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
    """Add ``--cassette-record``."""
    group = parser.getgroup("cassette", "recorded sub-agents")
    group.addoption(
        "--cassette-record",
        choices=MODES,
        default="none",
        help="none: replay only (default); once: record what has no cassette; all: record everything anew.",
    )


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
