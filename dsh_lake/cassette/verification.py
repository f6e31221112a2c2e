"""What is sound among any number of cassettes, and everything that is wrong with the rest.

The rule: verdicts are queries (``queries/checks/cassette_*.sql``); here they are only asked and put into
the order of the paths that were given. For a single file they say what the original tool says.

Source: spec/cassette.md section 4; spec/interface.md (exit codes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from dsh_lake.cassette.collection import Collection, PathLike, as_list, opened
from dsh_lake.cassette.single import single_file
from dsh_lake.engine import fetch_rows
from dsh_lake.records.cassette_facts import unstored


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong (``fail``) or doubtful (``warn``) with a cassette.

    ``line`` counts records as the original does, blank lines left out; ``physical_line`` counts all lines
    and is what an editor shows. Both are None where no line in particular is at fault.
    """

    path: str
    severity: str
    code: str
    line: int | None
    physical_line: int | None
    message: str


class Judged(msgspec.Struct):
    """One cassette and its verdict.

    ``status`` is sound, invalid or unreadable; ``code`` and ``message`` are its first fault, which is what
    the original tool reports. Counts are of what could be read, null where nothing could.
    """

    path: str
    status: str
    cassette_id: str | None = None
    interactions: int | None = None
    completed: int | None = None
    failed: int | None = None
    aborted: int | None = None
    ambiguous_groups: int | None = None
    redacted_results: int | None = None
    duration_ms: float | None = None
    faults: int = 0
    code: str | None = None
    message: str | None = None


class Verification(msgspec.Struct, frozen=True):
    """Verdicts on all cassettes, and all findings: by file, then by line and check."""

    cassettes: list[Judged]
    findings: list[Finding]
    is_single: bool
    """Whether one file was asked about, by its path."""

    suite: ClassVar[str] = "cassettes"

    @property
    def remarks(self) -> list[Finding]:
        """The findings, as reports for other programs tell them."""
        return self.findings

    def by_case(self) -> list[tuple[Judged, list[Finding]]]:
        """Each cassette with its findings."""
        found: dict[str, list[Finding]] = {judged.path: [] for judged in self.cassettes}
        for finding in self.findings:
            found[finding.path].append(finding)
        return [(judged, found[judged.path]) for judged in self.cassettes]

    def count(self, status: str) -> int:
        """How many cassettes have this status."""
        return sum(judged.status == status for judged in self.cassettes)

    @property
    def exit_code(self) -> int:
        """0: all sound. 1: something could not be read, or the single file asked about is invalid.
        2: of several some are invalid."""
        if self.count("unreadable"):
            return 1
        if self.count("invalid"):
            return 1 if self.is_single else 2
        return 0

    def document(self) -> dict[str, Any]:
        """The verification as plain values, as ``--format json`` prints it."""
        states = ("sound", "invalid", "unreadable")
        return {
            "sound": self.count("sound") == len(self.cassettes),
            "counts": {"cassettes": len(self.cassettes), **{name: self.count(name) for name in states}},
            "cassettes": msgspec.to_builtins(self.cassettes),
            "findings": msgspec.to_builtins(self.findings),
        }


def verify(paths: PathLike | Sequence[PathLike], *, jobs: int | None = None) -> Verification:
    """Verify cassettes: files, folders or patterns.

    Args:
        paths: see :func:`dsh_lake.cassette.collection.find`.
        jobs: processes that read; by default as many as there are processors, 4 at most.
    """
    given = as_list(paths)
    with opened(given, jobs=jobs) as collection:
        judged, findings = judge(collection)
    return Verification(judged, findings, single_file(given) is not None)


def judge(collection: Collection) -> tuple[list[Judged], list[Finding]]:
    """Verdicts on all cassettes of a collection in its order, and all findings."""
    findings = _findings(collection)
    judged = _verdicts(collection, findings)
    return judged, [finding for found in findings.values() for finding in found]


def _findings(collection: Collection) -> dict[str, list[Finding]]:
    """The findings of each file, by its name, in the order of the original's checks."""
    rows = fetch_rows(
        collection.connection,
        "select source_id, severity, code, line, physical_line, message "
        "from cassette_findings order by severity, line, rank, message",
    )
    found: dict[str, list[Finding]] = {name: [] for name in collection.names.values()}
    for row in rows:
        name = collection.names[row["source_id"]]
        line = row["line"] if row["physical_line"] is not None else None
        message = unstored(row["message"])
        found[name].append(Finding(name, row["severity"], row["code"], line, row["physical_line"], message))
    for name, message in collection.unreadable.items():
        found[name] = [Finding(name, "fail", "unreadable", None, None, message)]
    return found


def _verdicts(collection: Collection, findings: Mapping[str, Sequence[Finding]]) -> list[Judged]:
    rows = {row["source_id"]: row for row in fetch_rows(collection.connection, "from cassette_counts")}
    counts = {name: rows[source_id] for source_id, name in collection.names.items()}
    return [_judged(name, counts.get(name), found) for name, found in findings.items()]


def _judged(name: str, counts: Mapping[str, Any] | None, findings: Sequence[Finding]) -> Judged:
    faults = [finding for finding in findings if finding.severity == "fail"]
    status = "unreadable" if counts is None else "invalid" if faults else "sound"
    judged = Judged(name, status, faults=len(faults))
    if counts is not None:
        for field in _COUNTS:
            setattr(judged, field, counts[field])
    if judged.cassette_id is not None:
        judged.cassette_id = unstored(judged.cassette_id)
    if faults:
        judged.code, judged.message = faults[0].code, faults[0].message
    return judged


_COUNTS = (
    "cassette_id",
    "interactions",
    "completed",
    "failed",
    "aborted",
    "ambiguous_groups",
    "redacted_results",
    "duration_ms",
)
