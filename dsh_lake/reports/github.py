"""A verification as annotations of GitHub Actions: each finding shows at its line of the changed files.

Source: "Workflow commands for GitHub Actions" (error, warning; escaping of values and properties).
"""

from __future__ import annotations

from dsh_lake.cassette.terminal import printable
from dsh_lake.cassette.verification import Finding, Verification


def github(verification: Verification) -> str:
    """One workflow command a finding."""
    return "".join(f"{_command(finding)}\n" for finding in verification.findings)


def _command(finding: Finding) -> str:
    command = "error" if finding.severity == "fail" else "warning"
    place = f"file={_property(finding.path)}"
    if finding.physical_line is not None:
        place += f",line={finding.physical_line}"
    return f"::{command} {place},title={_property(finding.code)}::{_value(finding.message)}"


def _value(text: str) -> str:
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _value(text).replace(":", "%3A").replace(",", "%2C")
