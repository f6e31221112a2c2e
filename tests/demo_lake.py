"""A lake of the demo home, made once per folder of tests: what queries and commands are tried on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import dsh_lake
from demo_home import write_home


class DemoLake(NamedTuple):
    """The home, its lake, the summary of the scan and the truth that was counted while it was written."""

    home: Path
    lake: Path
    summary: dict[str, Any]
    truth: dict[str, Any]


def make(folder: Path) -> DemoLake:
    """Write the home and scan it."""
    home, lake = folder / "home", folder / "lake"
    truth = write_home(home)
    return DemoLake(home, lake, dsh_lake.scan(home, lake=lake, jobs=1), truth)
