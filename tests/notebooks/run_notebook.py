"""Run notebooks on a lake of the demo home.

python tests/notebooks/run_notebook.py LAKE NOTEBOOK...    (runs them, and keeps what comes out)
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook in a file."""
    return nbformat.read(path, as_version=4)


def run(notebook: nbformat.NotebookNode, lake: Path) -> nbformat.NotebookNode:
    """Run all cells in a kernel of their own; what fails in one is raised here.

    The notebook then holds its outputs, without the times at which cells ran.
    """
    environment = {
        **os.environ,
        "DSH_LAKE": str(lake),
        "DSH_LAKE_DEMO": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False)
    client.execute(env=environment)
    return notebook


if __name__ == "__main__":
    for name in sys.argv[2:]:
        target = Path(name)
        finished = run(read(target), Path(sys.argv[1]).resolve())
        # A kernel says which Python it was; that is of one machine.
        finished.metadata.language_info = {"name": "python"}
        nbformat.write(finished, target)
