"""Run the command line in this process, or as a process of its own, and see all that comes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dsh_lake.cli.exits import run

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"


class Run(NamedTuple):
    """What a command line left: its exit code and what it wrote."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout.decode()


Cli = Callable[..., Run]


def started(arguments: Sequence[str | Path], **more: object) -> subprocess.Popen[bytes]:
    """The command line as a process; its stdout and stderr are pipes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-m", "dsh_lake.cli", *map(str, arguments)]
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,  # type: ignore[call-overload]
    )


def run_here(arguments: Sequence[str | Path]) -> int:
    """Run in this process."""
    return run([str(argument) for argument in arguments])
