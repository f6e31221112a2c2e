"""The main job: a DSH home becomes a lake, and the summary is true."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dsh_lake.catalog_file import CatalogBuilder
from dsh_lake.definitions import StoredTables
from dsh_lake.errors import BadPrices
from dsh_lake.frames import FrameLimits
from dsh_lake.ingest.text import TextLimits
from dsh_lake.ingest.workers import OnRead, processes
from dsh_lake.lake import Lake, Snapshot, default_lake
from dsh_lake.sources import DiscoveryFinding, default_root, printable
from dsh_lake.summary import Summary, summarise, with_discovery
from dsh_lake.update import Update, UpdateOptions, update
from dsh_lake.views import ComposedViews

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def scan(
    roots: Paths | None = None,
    *,
    lake: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    full: bool = False,
    prune: bool = False,
    content: bool = True,
    frame_bytes: int = FrameLimits().frame_bytes,
    on_start: Callable[[int], None] = lambda _: None,
    on_read: OnRead = lambda _: None,
) -> Summary:
    """Bring a lake up to date with DSH homes, folders or single files, and count what is in them.

    Args:
        roots: one path or several; by default ``$DSH_HOME``, else ``~/.dsh``.
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        jobs: processes that read; by default as many as there are processors, 4 at most.
        full: read every file again.
        prune: forget files below the roots that are gone.
        content: keep the text of messages, arguments and results.
        frame_bytes: what one zstd frame may decode to; a larger one is a finding, not read.
        on_start: told how many bytes (on disk) will be read.
        on_read: told the bytes of each portion that was read.

    Returns:
        The object that ``dsh-lake scan --format json`` prints. Its counts describe what is on disk below
        the roots now; ``remembered_sessions`` says how many more the lake knows of.

    Raises:
        SourceError: no root could be opened.
        LakeBusy: another process is writing the lake.
        VersionMismatch: the lake is of another version, or kept in the other content mode.
        NotALake: the folder holds something else.
    """
    target = Lake(lake if lake is not None else default_lake())
    options = UpdateOptions(
        read_all=full,
        prune=prune,
        with_content=content,
        limits=TextLimits(frames=FrameLimits(frame_bytes=frame_bytes)),
        mapper=processes(jobs) if jobs is not None else None,
        on_start=on_start,
        on_read=on_read,
    )
    publication = _Publication(target)
    try:
        result = update(_as_list(roots), target, options, publication.summarise, publication.publish)
    finally:
        publication.close()
    return publication.summary(result)


def _as_list(roots: Paths | None) -> list[str | os.PathLike[str]]:
    if roots is None:
        return [default_root(os.environ)]
    given = [roots] if isinstance(roots, str | os.PathLike) else roots
    return [os.path.expanduser(root) for root in given]


class _Publication:
    """The catalog of a scan: asked for the summary before the commit, put in place after it."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._builder: CatalogBuilder | None = None
        self._price_fault: BadPrices | None = None
        self._summary: Summary = {}

    def summarise(self, result: Update) -> Mapping[str, Any]:
        path = self._lake.catalog_path(result.scan_id)
        with ThreadPoolExecutor(1) as aside:
            # The engine works outside of the interpreter: both at once take as long as the longer one.
            building = aside.submit(CatalogBuilder, path, result.files, self._lake.newest_catalog())
            counted = _count(result) if result.counts_before is None else None
            self._builder = building.result()
        if counted is not None:
            self._summary = counted
        elif result.counts_before is not None and self._builder.is_copy:
            self._summary = dict(result.counts_before)
        else:
            self._summary = _count(result)
        return self._summary

    def publish(self, result: Update, snapshot: Snapshot) -> None:
        assert self._builder is not None
        about = {"scan_id": result.scan_id, "lake": str(self._lake.path), "scans": self._lake.scans_version()}
        self._builder.finish(snapshot.files, about)
        self._price_fault = self._builder.price_fault
        self._builder = None
        self._lake.keep_catalogs(result.scan_id)

    def close(self) -> None:
        if self._builder is not None:
            self._builder.abandon()

    def summary(self, result: Update) -> Summary:
        return {
            "lake": str(self._lake.path),
            "scan_id": result.scan_id,
            "elapsed_s": round(time.time() - result.started, 3),
            "roots": list(result.roots),
            **with_discovery(self._summary, result.changes, [*result.findings, *self._price_findings()]),
        }

    def _price_findings(self) -> Iterator[DiscoveryFinding]:
        """That the lake's own prices are unusable is no fault of the archives: they are read all the same."""
        if (fault := self._price_fault) is not None:
            message = f"{fault.reason}; commands that price calls refuse to, until it is mended or removed"
            yield DiscoveryFinding("warn", "prices-unusable", printable(fault.place), message)


def _count(result: Update) -> Summary:
    """The summary of the files that were found, and how many sessions the lake knows beyond them."""
    with_cassettes = any(result.files[name] for name in ("cassettes", "cassette_faults"))
    views = ComposedViews(StoredTables(result.files), with_cassettes=with_cassettes)
    views.restrict(result.found)
    summary = summarise(views)
    views.restrict(None)
    (known,) = views.fetch("sessions", "count(*) as sessions")
    return {**summary, "remembered_sessions": known["sessions"] - summary["sessions"]}
