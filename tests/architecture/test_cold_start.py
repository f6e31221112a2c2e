"""What starting imports: a static graph cannot see imports inside functions, so a process is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = ("polars", "duckdb", "pyarrow", "deltalake", "dataframely", "numpy")

REPORT_MODULES = """
import json, sys
from dsh_lake.cli.exits import run
code = run(sys.argv[1:])
print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["scan", "--help"]], ids=" ".join)
def test_help_loads_nothing_slow(arguments: list[str], project_root: Path) -> None:
    command = [sys.executable, "-c", REPORT_MODULES, *arguments]
    run = subprocess.run(command, cwd=project_root, check=True, capture_output=True, text=True)
    report = json.loads(run.stderr)
    assert report["code"] == 0
    assert "Usage" in run.stdout
    assert not {name.partition(".")[0] for name in report["modules"]} & set(SLOW)


def test_the_package_loads_nothing_slow(project_root: Path) -> None:
    """Its public names arrive when they are first used."""
    asked = "import dsh_lake, json, sys; dsh_lake.__all__; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", asked], cwd=project_root, check=True, capture_output=True, text=True
    )
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}
    assert not loaded & {*SLOW, "msgspec", "typer"}
