"""What starting imports: a static graph cannot see imports inside functions, so a process is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SLOW = ("polars", "duckdb", "pyarrow", "deltalake", "dataframely", "numpy")


def test_the_package_loads_nothing_slow(project_root: Path) -> None:
    """Its public names arrive when they are first used."""
    asked = "import dsh_lake, json, sys; dsh_lake.__all__; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", asked], cwd=project_root, check=True, capture_output=True, text=True
    )
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}
    assert not loaded & {*SLOW, "msgspec", "typer"}
