"""The fixture `cassette`, in test runs of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TESTS = """
import asyncio
from dsh_lake.cassette.identity import Parent
from dsh_lake.cassette.provider import SubagentRequest
import pytest

class Run:
    local_agent_id = None
    async def result(self):
        return {"output": [{"type": "text", "text": "live"}], "stopReason": "completed"}
    async def dispose(self):
        pass

class Upstream:
    name = "spawn"
    capabilities = {}
    inherits_parent_context = False
    async def start(self, request):
        return Run()

def ask(cassette, upstream, texts):
    async def run():
        async with cassette.play(upstream) as provider:
            for text in texts:
                request = SubagentRequest({"prompt": [{"type": "text", "text": text}]}, Parent("p"))
                run = await provider.start(request)
                assert (await run.result())["output"][0]["text"] == "live"
    asyncio.run(run())

@pytest.mark.parametrize("letter", ["a", "b/c"])
def test_each(cassette, letter):
    ask(cassette, Upstream() if LIVE else None, [letter])

@pytest.mark.cassette("shared", duplicate_policy="sequence")
def test_named(cassette):
    ask(cassette, Upstream(), ["x", "y"] if LIVE else ASKED)
"""


@pytest.fixture
def run(tmp_path):
    def run(*options, live=False, asked=("x", "y")):
        (tmp_path / "test_it.py").write_text(f"LIVE, ASKED = {live}, {list(asked)}\n{TESTS}")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "dsh_lake.pytest_plugin", *options]
        # Whether or not the package is installed, its plug-in is loaded once.
        environment = {
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.stdout

    return run


def test_what_was_recorded_once_is_replayed_without_the_provider(run, tmp_path):
    assert "no cassette; record it with --cassette-record=once" in run()
    assert "3 passed" in run("--cassette-record=once", live=True)
    names = sorted(path.name for path in (tmp_path / "cassettes" / "test_it").iterdir())
    assert names == [f"{name}.cassette.jsonl" for name in ("shared", "test_each[a]", "test_each[b-c]")]
    written = {name: (tmp_path / "cassettes" / "test_it" / name).read_bytes() for name in names}
    assert "3 passed" in run()
    assert "3 passed" in run("--cassette-record=once", live=True)
    assert written == {name: (tmp_path / "cassettes" / "test_it" / name).read_bytes() for name in names}
    assert "1 cassette interaction(s) were not consumed" in run(asked=["x"])
    assert "3 passed" in run("--cassette-record=all", live=True)
    assert (
        written["shared.cassette.jsonl"]
        != (tmp_path / "cassettes" / "test_it" / "shared.cassette.jsonl").read_bytes()
    )
