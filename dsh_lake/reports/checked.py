"""What the checks of a lake found, as a report: one case a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dsh_lake.quantities import counted


class CheckRemark(NamedTuple):
    """One finding; ``code`` is the name of the check. The message begins with its place, since the files of a
    lake seldom lie where the reader of a report looks."""

    path: str | None
    severity: str
    code: str
    message: str
    physical_line: int | None


class CheckCase(NamedTuple):
    """One check: sound where it found nothing of severity fail."""

    path: str
    status: str
    code: str | None
    message: str | None


class CheckedLake(NamedTuple):
    """The checks that were run, by name, and what they found."""

    names: Sequence[str]
    remarks: Sequence[CheckRemark]
    suite: str = "checks"

    def by_case(self) -> list[tuple[CheckCase, list[CheckRemark]]]:
        """Each check with its findings."""
        found: dict[str, list[CheckRemark]] = {name: [] for name in self.names}
        for remark in self.remarks:
            found[remark.code].append(remark)
        return [(_case(f"{self.suite}/{name}", name, remarks), remarks) for name, remarks in found.items()]


def checked_lake(result: Mapping[str, Any]) -> CheckedLake:
    """The report of what :func:`dsh_lake.check` gives."""
    return CheckedLake(
        [check["name"] for check in result["checks"]], [_remark(finding) for finding in result["findings"]]
    )


def _remark(finding: Mapping[str, Any]) -> CheckRemark:
    path, line = finding["path"], finding["line"]
    place = "" if path is None else f"{path}: " if line is None else f"{path}#L{line}: "
    return CheckRemark(path, finding["severity"], finding["check"], place + finding["message"], line)


def _case(path: str, name: str, remarks: Sequence[CheckRemark]) -> CheckCase:
    faults = sum(remark.severity == "fail" for remark in remarks)
    if not faults:
        return CheckCase(path, "sound", None, None)
    return CheckCase(path, "invalid", name, counted(faults, "finding"))
