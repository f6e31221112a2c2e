"""Find and parse ``queries/*.sql``: one statement a file, described by the comments at its head.

    -- doc: a sentence
    -- grain: one row per ...
    -- needs: tables and views that it reads, comma-separated
    -- params: names that it takes, comma-separated
    -- severity: fail | warn          (checks only)

The file's stem is the query's name. The text is shipped inside the package and read through
``importlib.resources``; in a checkout it lies in the ``queries`` folder beside the package.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from dsh_lake.errors import QueryAssetsMissing, UnknownQuery

_HEAD = "-- "


@dataclass(frozen=True, slots=True)
class Query:
    """A query file: its name, what its header says, and its text."""

    name: str
    kind: str
    doc: str
    grain: str
    needs: tuple[str, ...]
    params: tuple[str, ...]
    severity: str
    text: str


def root() -> Traversable:
    """The folder of query files: inside the package, else beside it.

    Raises:
        QueryAssetsMissing: neither is there.
    """
    packaged = files("dsh_lake") / "queries"
    if packaged.is_dir():
        return packaged
    beside = Path(__file__).resolve().parent.parent / "queries"
    if beside.is_dir():
        return beside
    raise QueryAssetsMissing("the folder `queries` is neither inside nor beside the package dsh_lake")


def parse(name: str, kind: str, text: str) -> Query:
    """A query from the text of its file."""
    head: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith(_HEAD):
            break
        word, colon, value = line.removeprefix(_HEAD).partition(":")
        if colon and word in ("doc", "grain", "needs", "params", "severity"):
            head[word] = value.strip()

    def names(word: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in head.get(word, "").split(",") if part.strip())

    return Query(
        name=name,
        kind=kind,
        doc=head.get("doc", ""),
        grain=head.get("grain", ""),
        needs=names("needs"),
        params=names("params"),
        severity=head.get("severity", ""),
        text=text,
    )


@cache
def load(kind: str) -> dict[str, Query]:
    """All queries of one folder (``tables``, ``views``, ``checks``, ...) by name, sorted."""
    folder = root() / kind
    if not folder.is_dir():
        return {}
    found = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    stems = [(file, file.name.removesuffix(".sql")) for file in found]
    return {stem: parse(stem, kind, file.read_text("utf-8")) for file, stem in stems}


def find(name: str, kinds: Iterable[str]) -> Query:
    """The query of that name in any of the folders.

    Raises:
        UnknownQuery: there is none.
    """
    for kind in kinds:
        if name in load(kind):
            return load(kind)[name]
    raise UnknownQuery(f"no query is called {name!r}")


def in_order(queries: Iterable[Query]) -> list[Query]:
    """The queries so that each comes after those it needs."""
    by_name = {query.name: query for query in queries}
    graph = {query.name: [need for need in query.needs if need in by_name] for query in by_name.values()}
    return [by_name[name] for name in TopologicalSorter(graph).static_order()]
