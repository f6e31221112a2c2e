"""A verification in SARIF, which code-scanning services and editors read.

Source: OASIS Static Analysis Results Interchange Format (SARIF) 2.1.0.
"""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from dsh_lake.cassette.terminal import printable
from dsh_lake.cassette.verification import Finding, Verification
from dsh_lake.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"fail": "error", "warn": "warning"}


def sarif(verification: Verification) -> str:
    """The log as JSON text; one result a finding, one rule a code."""
    codes = sorted({finding.code for finding in verification.findings})
    run = {
        "tool": {
            "driver": {
                "name": "dsh-lake",
                "version": __version__,
                "rules": [
                    {"id": code, "shortDescription": {"text": code.replace("-", " ")}} for code in codes
                ],
            }
        },
        "columnKind": "utf16CodeUnits",
        "results": [_result(finding, codes.index(finding.code)) for finding in verification.findings],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.path)}}
    if finding.physical_line is not None:
        place["region"] = {"startLine": finding.physical_line}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": printable(finding.message)},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str) -> str:
    """A reference relative to where the command ran, or a file URI."""
    quoted = quote(os.fsencode(path))
    return f"file://{quoted}" if os.path.isabs(path) else quoted
