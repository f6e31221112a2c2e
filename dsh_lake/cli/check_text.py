"""What ``dsh-lake check`` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dsh_lake.cli.layout import Column, table
from dsh_lake.terminal_text import terminal_text


def check_text(result: Mapping[str, Any], width: int | None) -> str:
    """Every check with the number of its findings, then the findings."""
    checks = result["checks"]
    columns = [
        Column("check", [check["name"] for check in checks]),
        Column("severity", [check["severity"] for check in checks]),
        Column("findings", [f"{check['findings']:,}" for check in checks], is_number=True),
        Column("what it finds", [check["doc"] for check in checks]),
    ]
    lines = table(columns, width) if checks else []
    if result["findings"]:
        lines += ["", *map(_finding, result["findings"])]
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Mapping[str, Any]) -> str:
    place = terminal_text(finding["path"] or finding["subject_id"] or "")
    if (finding["position"] or "").startswith("line "):
        place += f"#L{finding['position'].removeprefix('line ')}"
    return f"{place}: {finding['severity']} {finding['check']}: {terminal_text(finding['message'])}"
