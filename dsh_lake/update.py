"""Bring a lake up to date with the files below its roots: find what changed, read it, commit once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from dsh_lake import catalog
from dsh_lake.errors import SourceError, UnreadableSource, VersionMismatch
from dsh_lake.ingest.parts import Part
from dsh_lake.ingest.text import TextLimits
from dsh_lake.ingest.workers import Mapper, OnRead, PartTarget, processes
from dsh_lake.lake import Lake, Snapshot, Writer
from dsh_lake.real_paths import is_below
from dsh_lake.schemas import ROW_TABLES, SCHEMA_VERSION, stored_schema
from dsh_lake.sources import Discovery, DiscoveryFinding, actual_path, discover, printable

Summarise = Callable[["Update"], Mapping[str, Any]]
Publish = Callable[["Update", Snapshot], None]


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """How to bring a lake up to date.

    Attributes:
        read_all: read every file again from its beginning.
        prune: forget files under the roots that are gone.
        with_content: keep the text of messages, arguments and results.
        limits: bounds of what reading a file holds in memory and of what a frame may decode to.
        mapper: how files are read; by default in as many processes as there are processors, 4 at most.
        on_start: told the number of bytes that will be read, before reading begins.
        on_read: told the bytes of each file (or portion) that was read.
    """

    read_all: bool = False
    prune: bool = False
    with_content: bool = True
    limits: TextLimits = field(default_factory=TextLimits)
    mapper: Mapper | None = None
    on_start: Callable[[int], None] = lambda _: None
    on_read: OnRead = lambda _: None


@dataclass(frozen=True, slots=True)
class Update:
    """What a scan did, as its summary needs it. ``files`` are the lake's files after the scan."""

    scan_id: str
    batch: int
    started: float
    roots: tuple[str, ...]
    found: tuple[int, ...]
    tally: catalog.Tally
    findings: tuple[DiscoveryFinding, ...]
    files: Mapping[str, Sequence[str]]
    counts_before: Mapping[str, Any] | None
    """The counts of the scan before, if it was of the same roots and nothing has changed since."""

    @property
    def changes(self) -> dict[str, int]:
        """How the files have changed, by number."""
        return {
            "found": self.tally.found,
            "new": self.tally.new,
            "grown": self.tally.grown,
            "rewritten": self.tally.rewritten,
            "unchanged": self.tally.unchanged,
            "missing": self.tally.missing,
        }


def update(
    roots: Sequence[str | os.PathLike[str]],
    lake: Lake,
    options: UpdateOptions,
    summarise: Summarise,
    publish: Publish = lambda _, __: None,
) -> Update:
    """Scan the roots into the lake.

    Args:
        summarise: makes the summary of the scan, given what the lake will hold; it is committed with it.
        publish: told of the scan once it is committed, before another may write.

    Raises:
        SourceError: no root could be opened.
        LakeBusy: another process is writing the lake.
        VersionMismatch: the lake is of another schema version, or kept in the other content mode.
    """
    started = time.time()
    seen = lake.scans_version() if lake.exists else 0
    discovery = discover(roots)
    if not discovery.opened_roots:
        raise _no_root(discovery, roots)
    with lake.writing() as writer:
        if lake.scans_version() != seen:
            # Another scan came first, and knows files that were not there when we looked.
            discovery = discover(roots)
        update, snapshot = _Scan(discovery, writer, options, started).run(summarise)
        publish(update, snapshot)
        return update


def _no_root(discovery: Discovery, roots: Sequence[str | os.PathLike[str]]) -> SourceError:
    for finding in discovery.findings:
        if finding.severity == "fail":
            return UnreadableSource(finding.path, finding.message)
    return UnreadableSource(", ".join(str(os.fspath(root)) for root in roots), "nothing to read")


class _Scan:
    def __init__(self, discovery: Discovery, writer: Writer, options: UpdateOptions, started: float) -> None:
        self._discovery = discovery
        self._files = (*discovery.files, *discovery.manifests)
        self._writer = writer
        self._options = options
        self._started = started
        self._known = _read_sources(writer.snapshot)
        self._is_switch = self._check_mode()

    def _check_mode(self) -> bool:
        """Whether the lake is to be rewritten in the other content mode."""
        snapshot, options = self._writer.snapshot, self._options
        if snapshot is None or snapshot.has_content == options.with_content or not self._known:
            return False
        has, wants = ("with", "without") if snapshot.has_content else ("without", "with")
        if not options.read_all:
            raise VersionMismatch(
                f"this lake is kept {has} content and the scan asks for one {wants}: "
                f"{'scan with --no-content, ' if has == 'without' else ''}scan into another lake (--lake), "
                f"or rewrite this one with --full"
            )
        found = {printable(file.path) for file in self._files}
        if left_out := [path for path in self._known if path not in found]:
            raise VersionMismatch(
                f"rewriting this lake {wants} content needs all its files under the given roots; "
                f"{len(left_out)} are not, such as {left_out[0]}: give their roots too, or another lake"
            )
        return True

    def run(self, summarise: Summarise) -> tuple[Update, Snapshot]:
        options, writer = self._options, self._writer
        plan = catalog.plan(
            self._files,
            self._known,
            batch=writer.batch,
            read_all=options.read_all,
        )
        catalog.mark_missing(plan, self._gone())
        parts = self._read(plan)
        rows = {row["source_key"]: row for row in self._known.values()} | plan.changed
        if options.prune:
            for key in plan.missing:
                rows.pop(key, None)
            plan.tally.missing = 0
        replace = self._replaced(plan, rows)
        if plan.changed or (options.prune and plan.missing):
            parts.append(writer.write_table("sources", catalog.to_table(rows.values())))
            replace.append("sources")
        return self._commit(plan, parts, replace, summarise)

    def _gone(self) -> list[catalog.Row]:
        """Rows of files under the roots that are not there any more."""
        on_disk = {printable(file.path) for file in self._files}
        roots = tuple(printable(root) for root in self._discovery.opened_roots)
        return [
            row
            for path, row in self._known.items()
            if path not in on_disk
            and any(is_below(path, root) for root in roots)
            and _is_gone(actual_path(path))
        ]

    def _read(self, plan: catalog.Plan) -> list[Part]:
        options, writer = self._options, self._writer
        options.on_start(sum(task.size_bytes for task in plan.tasks))
        if not plan.tasks:
            return []
        mapper = options.mapper or processes(min(os.cpu_count() or 1, 4))
        target = PartTarget(writer.lake.tables, writer.part_prefix, options.with_content)
        tasks = [replace(task, limits=options.limits) for task in plan.tasks]
        outputs = mapper(tasks, target, options.on_read)
        known_keys = {row["source_key"] for row in self._known.values()}
        for output in outputs:
            for outcome in output.outcomes:
                catalog.apply_outcome(plan, outcome, writer.batch, known_keys)
        return [part for output in outputs for part in output.parts]

    def _replaced(self, plan: catalog.Plan, rows: Mapping[int, catalog.Row]) -> list[str]:
        """Row tables whose earlier files hold nothing current any more."""
        batch = self._writer.batch
        is_all_new = all(row["first_batch"] in (0, batch) for row in rows.values())
        return list(ROW_TABLES) if is_all_new and self._known and plan.tasks else []

    def _commit(
        self, plan: catalog.Plan, parts: Sequence[Part], replace: Sequence[str], summarise: Summarise
    ) -> tuple[Update, Snapshot]:
        writer, options = self._writer, self._options
        started_at = datetime.fromtimestamp(self._started, UTC)
        scan_id = f"{started_at:%Y%m%dT%H%M%SZ}-{writer.batch}"
        result = Update(
            scan_id=scan_id,
            batch=writer.batch,
            started=self._started,
            roots=self._discovery.opened_roots,
            found=tuple(plan.found),
            tally=plan.tally,
            findings=self._discovery.findings,
            files=writer.files_after(parts, replace),
            counts_before=None if parts else self._counts_before(),
        )
        counts = summarise(result)
        row = {
            "scan_id": scan_id,
            "batch": writer.batch,
            "action": "scan",
            "started_at": int(self._started * 1_000_000),
            "elapsed_s": round(time.time() - self._started, 3),
            "roots": list(result.roots),
            "counts": json.dumps(counts),
            "has_content": options.with_content,
            "schema_version": SCHEMA_VERSION,
        }
        if self._is_switch and not options.with_content:
            parts, replace = [*parts, self._history_without_findings()], [*replace, "scans"]
        snapshot = writer.commit(parts, row, replace=replace)
        if self._is_switch and not options.with_content:
            # Whoever asks for a lake without content does not want the old one kept beside it.
            writer.lake.delete_old(0)
        return result, snapshot

    def _history_without_findings(self) -> Part:
        """The rows of earlier scans without their summaries: the findings in them may quote what was read."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        snapshot = self._writer.snapshot
        files = snapshot.files["scans"] if snapshot else ()
        rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
        bare = [{**row, "counts": None} for row in rows]
        return self._writer.write_table("scans", pa.Table.from_pylist(bare, schema=stored_schema("scans")))

    def _counts_before(self) -> Mapping[str, Any] | None:
        before = self._writer.last_scan()
        if before is None or tuple(before["roots"]) != self._discovery.opened_roots:
            return None
        counts: Mapping[str, Any] = json.loads(before["counts"])
        return counts


def _is_gone(path: str) -> bool:
    """Whether there is no file any more where one was; a link in its place is another file."""
    return os.path.islink(path) or not os.path.isfile(path)


def _read_sources(snapshot: Snapshot | None) -> dict[str, catalog.Row]:
    files = snapshot.files.get("sources", ()) if snapshot else ()
    if not files:
        return {}
    import pyarrow.parquet as pq

    return catalog.from_tables(pq.ParquetFile(file).read() for file in files)
