"""One lake of the demo home for all tests of this folder, and the command line to try on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.runs import Cli, Run, run_here
from demo_lake import DemoLake, make


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoLake:
    """The demo home and its lake; no test may change them."""
    return make(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """The command line, run in this process; without settings of the user who runs the tests."""
    for name in ("DSH_HOME", "DSH_LAKE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))

    def invoke(*arguments: str | Path) -> Run:
        capfdbinary.readouterr()
        code = run_here(arguments)
        written = capfdbinary.readouterr()
        return Run(code, written.out, written.err.decode())

    return invoke
