"""What docs/other-tools.md tells to do gives what the lake's own views give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from demo_lake import make


def recipe(root: Path, heading: str) -> str:
    """The first Python code below a heading."""
    text = (root / "docs" / "other-tools.md").read_text("utf-8").partition(f"\n## {heading}\n")[2]
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def test_polars_reads_what_was_billed(tmp_path: Path, project_root: Path) -> None:
    pytest.importorskip("polars")
    demo = make(tmp_path)
    names: dict[str, Any] = {}
    exec(recipe(project_root, "polars").replace('"LAKE"', repr(str(demo.lake))), names)
    with dsh_lake.connect(demo.lake) as connection:
        (expected,) = connection.sql(
            "select count(*), sum(input_tokens)::bigint, sum(output_tokens)::bigint from billed_usage"
        ).fetchall()
    billed = names["billed"].collect()
    assert (billed.height, billed["input_tokens"].sum(), billed["output_tokens"].sum()) == expected
