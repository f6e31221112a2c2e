"""Every notebook runs from top to bottom on the demo home, and holds the outputs of such a run, nothing else.

``python tests/notebooks/run_notebook.py LAKE NOTEBOOK...`` runs notebooks on a lake of the demo home and
keeps what comes out: it is what made the outputs that are committed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from demo_lake import DemoLake, make
from notebooks.run_notebook import read, run

FOLDER = Path(__file__).resolve().parent.parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
_each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

# Jupyter warns of what it will do one day; none of it is about what runs in a notebook.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:(jupyter_client|nbclient|zmq|tornado).*"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoLake:
    return make(tmp_path_factory.mktemp("notebooks"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@_each
def test_it_runs_on_the_demo_home(path: Path, demo: DemoLake) -> None:
    """Its own assertions are about figures that are known of that home."""
    run(read(path), demo.lake)


@_each
def test_it_holds_outputs_and_no_traces_of_a_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    # The demo home's own folders begin with /home/dev; nothing else of a disk is in there.
    assert not re.findall(r"(?:/tmp|/work|/root|/Users|/var|[A-Z]:\\\\)[/\w.-]*", text)
    assert set(re.findall(r"/home/[\w.-]+", text)) <= {"/home/dev"}
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] in ("stream", "error")]
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]


@_each
def test_it_uses_public_names_alone(path: Path) -> None:
    code = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "code")
    assert "import dsh_lake\n" in code
    assert not re.search(r"from dsh_lake|import dsh_lake\.|dsh_lake\._", code)
