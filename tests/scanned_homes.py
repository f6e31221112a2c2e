"""Homes with their lakes, each scanned once for all tests of a process that only ask."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import dsh_lake
from corpus import CORPUS, THOROUGH
from demo_home import write_home
from dsh_lake.engine import Connection

ALL_HOMES = sorted(path.parent for path in (CORPUS / "sessions").glob("*/*/ground_truth.json"))
"""The homes of the corpus; none where it is absent."""
_KINDS = ("0.2.1rc2/errors", "migrated/v0-v3-v4")


def _chosen() -> list[Path]:
    """All homes as one lake, and two of them alone; each home for itself with ``DSH_LAKE_THOROUGH=1``."""
    if not ALL_HOMES:
        return []
    each = ALL_HOMES if THOROUGH else [CORPUS / "sessions" / kind for kind in _KINDS]
    return [CORPUS / "sessions", *each]


HOMES = _chosen()
"""What tests of views are tried on, besides the demo home."""


class Scanned:
    """A home, what scan says of it, and a connection to its lake.

    Args:
        home: a home; None for the demo home.
    """

    def __init__(self, home: Path | None) -> None:
        folder = _folder()
        if home is None:
            home = folder / "home"
            write_home(home)
        self.home = home
        self.summary: dict[str, Any] = dsh_lake.scan(home, lake=folder / "lake", jobs=1)
        self.connection: Connection = dsh_lake.connect(folder / "lake")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def row(self, query: str) -> tuple[Any, ...]:
        (only,) = self.rows(query)
        return only

    def counts(self, query: str) -> Counter[Any]:
        """Of a name and a number a row; what is none is left out."""
        return Counter({name: number for name, number in self.rows(query) if number})


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dsh-lake-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def scanned_home(home: Path | None) -> Scanned:
    """A home and its lake; None for the demo home."""
    return Scanned(home)


def name_of(home: Path | None) -> str:
    """How a test names a home."""
    return "demo" if home is None else "/".join(home.parts[-2:])
