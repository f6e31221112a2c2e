"""Where the handed corpus is, for tests that are made from its files; empty lists where it is absent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("DSH_LAKE_SHARED") or Path(__file__).resolve().parent.parent.parent / "shared")
CORPUS = SHARED / "corpus"
THOROUGH = bool(os.environ.get("DSH_LAKE_THOROUGH"))
"""Whether to try everything on everything, which takes long, rather than each thing on some."""


def load(path: Path) -> Any:
    """A JSON file of the corpus."""
    return json.loads(path.read_text("utf-8"))


def torture_cases() -> dict[str, dict[str, Any]]:
    """The torture cases by name; ``file`` is relative to :data:`TORTURE`."""
    path = TORTURE / "expected.json"
    cases: dict[str, dict[str, Any]] = load(path)["cases"] if path.is_file() else {}
    return cases


TORTURE = CORPUS / "torture"
