"""Cases with the original tool's recorded behaviour: the ones kept here, and all of the handed corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.corpus import CORPUS

KEPT = Path(__file__).resolve().parent.parent / "fixtures" / "cassettes"
HANDED = CORPUS / "cassettes"
ROOTS = {"kept": KEPT, **({"handed": HANDED} if HANDED.is_dir() else {})}

EXPECTED_ELSEWHERE = {
    "CassetteTypeError": "TypeError",
    "InvalidRedactionPattern": "Error",
}
"""Our error classes where the original throws a plain one."""


def cases(kind: str) -> list[Any]:
    """Parameters (folder, name, expected behaviour) of every case of a kind."""
    return [
        pytest.param(root / kind, name, expected, id=f"{origin}-{name}")
        for origin, root in ROOTS.items()
        if (root / kind / "expected.json").is_file()
        for name, expected in json.loads((root / kind / "expected.json").read_text("utf-8")).items()
    ]


def vectors(name: str) -> list[Any]:
    """Parameters (expected behaviour) of every case of a vector file."""
    return [
        pytest.param(expected, id=f"{origin}-{key}")
        for origin, root in ROOTS.items()
        for key, expected in json.loads((root / "vectors" / f"{name}.json").read_text("utf-8")).items()
    ]


def as_original(error: BaseException, folder: str = "\0") -> dict[str, Any]:
    """An error as the corpus writes one down; ``folder`` is where the case ran."""
    name = type(error).__name__
    code = getattr(error, "code", None)
    return {
        "class": EXPECTED_ELSEWHERE.get(name, name),
        "code": code if isinstance(code, str) else None,
        "message": str(error).replace(folder, "@DIR@"),
    }
