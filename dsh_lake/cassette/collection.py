"""Any number of cassettes as tables for as long as a question takes; no lake is needed.

The rule: each file is read once, spread over processes where there is much to read, and its rows go to
temporary files, so that memory does not grow with the number of cassettes. Then the tables, views and
checks of a lake can be asked about them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path

from dsh_lake import catalog
from dsh_lake.cassette.loading import absolute_path
from dsh_lake.cassette.single import is_pattern
from dsh_lake.definitions import StoredTables
from dsh_lake.engine import Connection, fetch_rows
from dsh_lake.ingest.workers import PartTarget, processes
from dsh_lake.schemas import ROW_TABLES
from dsh_lake.sources import SourceFile, discover
from dsh_lake.views import PreparedTables

PathLike = str | os.PathLike[str]

_MOST_JOBS = 4
_ASKED = ("source_status", "cassette_counts", "cassette_findings", "ambiguous_groups", "cassette_changes")
"""What can be asked about a collection."""


def as_list(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """One path or several, as text."""
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


@dataclass(slots=True)
class Found:
    """The cassettes that paths stand for, in that order; each real file once."""

    files: dict[str, SourceFile] = field(default_factory=dict)
    """By the name to show it by: the path as given, or below the folder as given."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Why there is nothing to read, by the path as given."""


def find(paths: Iterable[PathLike]) -> Found:
    """Cassettes by path: a file of any name, a folder (every ``*.cassette.jsonl`` below it) or a pattern
    with ``*``, ``?``, ``[...]`` and ``**``."""
    found = Found()
    met: set[str] = set()
    for given in (os.fspath(path) for path in paths):
        for path in _expanded(given):
            for name, file in _files_at(path, found.unreadable):
                if file.path not in met:
                    met.add(file.path)
                    found.files[name] = file
    return found


def _expanded(given: str) -> list[str]:
    return (sorted(glob(given, recursive=True)) if is_pattern(given) else []) or [given]


def _files_at(path: str, unreadable: dict[str, str]) -> Iterator[tuple[str, SourceFile]]:
    refusal = f'cannot read cassette "{absolute_path(path)}"'
    discovery = discover([path])
    for finding in discovery.findings:
        if finding.severity == "fail":
            unreadable[finding.path if discovery.opened_roots else path] = refusal
    if not discovery.opened_roots:
        return
    if not os.path.isdir(path):
        yield path, replace(discovery.files[0], kind="cassette")
        return
    cassettes = [file for file in discovery.files if file.kind == "cassette"]
    if not cassettes:
        unreadable[path] = f"no *.cassette.jsonl below {absolute_path(path)}"
    for file in cassettes:
        yield os.path.normpath(os.path.join(path, os.path.relpath(file.path, file.root))), file


@dataclass(frozen=True, slots=True)
class Collection:
    """Cassettes that were read.

    Attributes:
        connection: the tables and views of ``_ASKED`` and all they need, over these cassettes alone.
        names: how each file is called, by ``source_id``, in the order of the paths.
        unreadable: why a file or path could not be read, by name.
    """

    connection: Connection
    names: dict[str, str]
    unreadable: dict[str, str]


@contextmanager
def opened(paths: Sequence[PathLike], *, jobs: int | None = None) -> Iterator[Collection]:
    """Read cassettes (see :func:`find`) and hold their tables while the context lasts.

    Args:
        jobs: processes that read; by default as many as there are processors, 4 at most.
    """
    found = find(paths)
    with tables_of(found.files.values(), _ASKED, jobs=jobs) as (connection, ids):
        names = {ids[file.path]: name for name, file in found.files.items()}
        refused = fetch_rows(
            connection, "select source_id from source_status where state_code = 'unreadable'"
        )
        unreadable = dict(found.unreadable)
        for row in refused:
            name = names.pop(row["source_id"])
            unreadable[name] = f'cannot read cassette "{absolute_path(name)}"'
        yield Collection(connection, names, unreadable)


@contextmanager
def tables_of(
    files: Iterable[SourceFile], names: Iterable[str], *, jobs: int | None = None
) -> Iterator[tuple[Connection, dict[str, str]]]:
    """The named tables and views over these files alone, and the ``source_id`` of each file by its path."""
    plan = catalog.plan(files, {}, batch=1, read_all=True)
    ids = {file.path: plan.changed[key]["source_id"] for key, file in plan.files.items()}
    with tempfile.TemporaryDirectory(prefix="dsh-lake-") as folder:
        stored = _read(plan, Path(folder), jobs or min(os.cpu_count() or 1, _MOST_JOBS))
        connection = PreparedTables(stored, names, with_cassettes=True).connection
        try:
            # What does not fit into memory goes where the rows are, not to the current folder.
            connection.execute("set temp_directory = $1", [os.path.join(folder, "spilled")])
            yield connection, ids
        finally:
            connection.close()


def _read(plan: catalog.Plan, folder: Path, jobs: int) -> StoredTables:
    """Read the planned files into part files below ``folder``."""
    for table in ROW_TABLES:
        (folder / table).mkdir()
    target = PartTarget(folder, "read", with_content=True)
    files: dict[str, list[str]] = {}
    for output in processes(jobs)(plan.tasks, target, lambda _: None):
        for outcome in output.outcomes:
            catalog.apply_outcome(plan, outcome, 1, set())
        for part in output.parts:
            files.setdefault(part.table, []).append(os.fspath(folder / part.table / part.name))
    return StoredTables(files, {"sources": catalog.to_table(plan.changed.values())})
