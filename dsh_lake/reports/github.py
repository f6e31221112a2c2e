"""A report as annotations of GitHub Actions: each finding shows at its line of the changed files.

Source: "Workflow commands for GitHub Actions" (error, warning; escaping of values and properties).
"""

from __future__ import annotations

from dsh_lake.cassette.terminal import printable
from dsh_lake.reports.report import Remark, Report


def github(report: Report) -> str:
    """One workflow command a remark."""
    return "".join(f"{_command(remark)}\n" for remark in report.remarks)


def _command(remark: Remark) -> str:
    command = "error" if remark.severity == "fail" else "warning"
    place = "" if remark.path is None else f"file={_property(remark.path)},"
    if place and remark.physical_line is not None:
        place += f"line={remark.physical_line},"
    return f"::{command} {place}title={_property(remark.code)}::{_value(remark.message)}"


def _value(text: str) -> str:
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _value(text).replace(":", "%3A").replace(",", "%2C")
