"""Say what is installed, where the lake is and whether it is sound; nothing is changed."""

from __future__ import annotations

import os
import platform
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from dsh_lake.connection import connect_apart
from dsh_lake.engine import fetch_rows
from dsh_lake.errors import BadPrices, DshLakeError
from dsh_lake.lake import Lake, Snapshot, default_lake
from dsh_lake.readonly import read_rows
from dsh_lake.schemas import STORED
from dsh_lake.sources import default_root, printable
from dsh_lake.spelling import json_columns
from dsh_lake.version import __version__

_PACKAGES = ("pyarrow", "zstandard", "duckdb", "deltalake", "msgspec", "typer", "platformdirs")
_OPTIONAL_PACKAGES = ("polars",)
_IN_MEMORY = "memory"
"""The engine's name of the database of a connection that found no catalog file to use."""

Check = dict[str, Any]


def doctor(lake: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Look at the installation, the DSH home and the lake.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.

    Returns:
        ``ok`` (no check failed), ``versions`` (name to version; null where an optional package is absent),
        ``home`` (the folder that a scan without roots reads), ``lake`` (its ``path``, and where there is one
        ``size_bytes``, ``scan_id``, ``last_scan_at``, ``scans``, ``has_content``), and ``checks``: each with
        ``name``, ``status`` (``ok``, ``warn``, ``fail``), ``message`` and ``advice`` (null when all is well).
    """
    home = default_root(os.environ)
    target = Lake(lake if lake is not None else default_lake())
    about: dict[str, Any] = {"path": printable(str(target.path))}
    checks = [_home_check(home), *_lake_checks(target, about)]
    return {
        "ok": all(check["status"] != "fail" for check in checks),
        "versions": _versions(),
        "home": printable(str(home)),
        "lake": about,
        "checks": checks,
    }


def _check(name: str, status: str, message: str, advice: str | None = None) -> Check:
    return {"name": name, "status": status, "message": message, "advice": advice}


def _advice(error: DshLakeError, otherwise: str) -> str:
    return "mend or remove the file of prices" if isinstance(error, BadPrices) else otherwise


def _versions() -> dict[str, str | None]:
    def installed(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    packages = {name: installed(name) for name in (*_PACKAGES, *_OPTIONAL_PACKAGES)}
    return {"dsh-lake": __version__, "python": platform.python_version(), **packages}


def _home_check(home: Path) -> Check:
    shown = printable(str(home))
    if not home.exists():
        advice = "name the folders to read: dsh-lake scan DIR, or set DSH_HOME"
        return _check("home", "warn", f"there is no DSH home at {shown}", advice)
    if not os.access(home, os.R_OK | os.X_OK):
        return _check("home", "warn", f"the DSH home {shown} may not be read", "check its permissions")
    return _check("home", "ok", f"a scan without roots reads {shown}")


# -- the lake ----------------------------------------------------------------------------------------------


def _lake_checks(lake: Lake, about: dict[str, Any]) -> Iterator[Check]:
    try:
        if not lake.exists:
            lake.require_room()
            yield _check(
                "lake", "warn", f"there is no lake at {about['path']} yet", "make one: dsh-lake scan"
            )
            return
        snapshot = lake.snapshot()
    except DshLakeError as error:
        yield _check("lake", "fail", str(error), "scan into a new lake: dsh-lake scan --lake DIR")
        return
    if snapshot is None:
        yield _check("lake", "warn", "no scan of this lake was ever completed", "run dsh-lake scan")
        return
    mode = "with" if snapshot.has_content else "without"
    yield _check("lake", "ok", f"it opens, as of scan {snapshot.scan_id}, and is kept {mode} content")
    examination = _Examination(lake, snapshot)
    yield from examination.checks()
    about |= examination.about


class _Examination:
    """What can be said of a lake that opens. ``about`` gathers what is asked anyway."""

    def __init__(self, lake: Lake, snapshot: Snapshot) -> None:
        self._lake = lake
        self._named = [Path(file) for files in snapshot.files.values() for file in files]
        self._found = list(_entries(lake.path))
        self.about: dict[str, Any] = {
            "size_bytes": sum(entry.size_bytes for entry in self._found),
            "scan_id": snapshot.scan_id,
            "has_content": snapshot.has_content,
            "last_scan_at": None,
            "scans": None,
        }

    def checks(self) -> Iterator[Check]:
        yield self._files()
        yield self._answer()
        yield self._catalog()
        yield self._leftovers()
        yield self._permissions()

    def _files(self) -> Check:
        """Whether every file that the current scan names is there and whole: its footer is read."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        broken = []
        for file in self._named:
            try:
                pq.read_metadata(file)
            except (OSError, pa.ArrowException) as error:
                reason = "is gone" if isinstance(error, FileNotFoundError) else "is damaged"
                broken.append(f"{printable(str(file))} {reason}")
        if broken:
            more = f", and {len(broken) - 1:,} more" if len(broken) > 1 else ""
            advice = "read everything again: dsh-lake scan --full, or scan into a new lake"
            return _check("files", "fail", f"{broken[0]}{more}", advice)
        files = "the only file" if len(self._named) == 1 else f"all {len(self._named):,} files"
        are = "is" if len(self._named) == 1 else "are"
        return _check("files", "ok", f"{files} of the current scan {are} there and whole")

    def _answer(self) -> Check:
        """Whether all tables can be queried."""
        counts = ", ".join(f"(select count(*) from {name}) as {name}" for name in STORED if name != "scans")
        query = f"select max(started_at) as last_scan_at, count(*) as scans, {counts} from scans"
        try:
            with read_rows(query, self._lake.path) as rows:
                (batch,) = rows
        except DshLakeError as error:
            return _check("query", "fail", str(error), _advice(error, "see what is said of files"))
        values = [value for (value,) in json_columns(batch)]
        answer = dict(zip(batch.schema.names, values, strict=True))
        self.about |= {name: answer[name] for name in ("last_scan_at", "scans")}
        return _check(
            "query", "ok", f"it answers: {answer['events']:,} event rows of {answer['sources']:,} files"
        )

    def _catalog(self) -> Check:
        """Whether any DuckDB client sees the current scan."""
        try:
            connection = connect_apart(self._lake.path)
            (current,) = fetch_rows(connection, "select current_database() as name")
            connection.close()
        except DshLakeError as error:
            return _check(
                "catalog", "fail", str(error), _advice(error, "run dsh-lake scan, which makes it anew")
            )
        if current["name"] != _IN_MEMORY and (self._lake.path / "catalog.duckdb").is_file():
            return _check("catalog", "ok", "catalog.duckdb shows the current scan to any DuckDB client")
        message = "catalog.duckdb is absent, or made by another scan, in another place or by another version"
        return _check("catalog", "warn", message, "run dsh-lake scan, which makes it anew")

    def _leftovers(self) -> Check:
        """Part files that are not of the current scan."""
        named = set(self._named)
        others = [
            entry.size_bytes
            for entry in self._found
            if entry.path.suffix == ".parquet" and entry.path not in named
        ]
        if not others:
            return _check("leftovers", "ok", "no files of earlier scans, or of killed ones")
        message = f"{len(others):,} files ({sum(others):,} bytes) are of earlier scans, or of killed ones"
        return _check("leftovers", "ok", f"{message}; dsh-lake compact removes what is old of them")

    def _permissions(self) -> Check:
        if sys.platform == "win32":
            return _check("permissions", "ok", "those of the folder that the lake is in")
        others = [entry.path for entry in self._found if entry.mode & 0o077 and not stat.S_ISLNK(entry.mode)]
        if others:
            message = (
                f"{len(others):,} files or folders are open to others, such as {printable(str(others[0]))}"
            )
            return _check("permissions", "warn", message, f"chmod -R go= {printable(str(self._lake.path))}")
        return _check("permissions", "ok", "only you may read it")


class _Entry(NamedTuple):
    """A file or folder of a lake; folders have no size."""

    path: Path
    size_bytes: int
    mode: int


def _entries(folder: Path) -> Iterator[_Entry]:
    for path in (folder, *folder.rglob("*")):
        try:
            status = path.lstat()
        except OSError:
            continue  # A scan or compaction has just removed it.
        yield _Entry(path, 0 if stat.S_ISDIR(status.st_mode) else status.st_size, status.st_mode)
