"""The secrets of a lake as a report: one case a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dsh_lake.reports.checked import CheckedLake, CheckRemark


def secrets_found(result: Mapping[str, Any]) -> CheckedLake:
    """The report of what :func:`dsh_lake.redact_check` gives."""
    remarks = [_remark(finding) for finding in result["findings"]]
    return CheckedLake([kind["kind"] for kind in result["kinds"]], remarks, "secrets")


def _remark(finding: Mapping[str, Any]) -> CheckRemark:
    line = "" if finding["line"] is None else f"#L{finding['line']}"
    told = f" (fingerprint {finding['fingerprint']})" if finding["fingerprint"] else ""
    message = f"{finding['path']}{line}: {finding['kind']} in {finding['table']}.{finding['column']}{told}"
    return CheckRemark(finding["path"], "fail", finding["kind"], message, finding["line"])
