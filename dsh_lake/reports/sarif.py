"""A report in SARIF, which code-scanning services and editors read.

Source: OASIS Static Analysis Results Interchange Format (SARIF) 2.1.0.
"""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from dsh_lake.cassette.terminal import printable
from dsh_lake.reports.report import Remark, Report
from dsh_lake.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"fail": "error", "warn": "warning"}


def sarif(report: Report) -> str:
    """The log as JSON text; one result a remark, one rule a code."""
    codes = sorted({remark.code for remark in report.remarks})
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
        "results": [_result(remark, codes.index(remark.code)) for remark in report.remarks],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _result(remark: Remark, rule: int) -> dict[str, Any]:
    return {
        "ruleId": remark.code,
        "ruleIndex": rule,
        "level": _LEVELS[remark.severity],
        "message": {"text": printable(remark.message)},
        "locations": [] if remark.path is None else [_location(remark.path, remark.physical_line)],
    }


def _location(path: str, line: int | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(path)}}
    if line is not None:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}


def _uri(path: str) -> str:
    """A reference relative to where the command ran, or a file URI."""
    quoted = quote(os.fsencode(path))
    return f"file://{quoted}" if os.path.isabs(path) else quoted
