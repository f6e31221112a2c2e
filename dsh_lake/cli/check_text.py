"""What ``dsh-lake check`` prints for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dsh_lake.cli.layout import Column, table
from dsh_lake.terminal_text import terminal_text

_SHOWN = 20
"""Findings of one check that are shown before the rest is only counted."""


def check_text(result: Mapping[str, Any], width: int | None) -> str:
    """A verdict, every check with the number of its findings, then the findings, check by check."""
    checks = result["checks"]
    columns = [
        Column("check", [check["name"] for check in checks], is_rigid=True),
        Column("severity", [check["severity"] for check in checks], is_rigid=True),
        Column("findings", [f"{check['findings']:,}" for check in checks], is_number=True),
        Column("what it finds", [check["doc"] for check in checks]),
    ]
    lines = [*table(columns, width), *_findings(result), "", _verdict(result)]
    return "".join(f"{line}\n" for line in lines)


def _findings(result: Mapping[str, Any]) -> Iterator[str]:
    for check in result["checks"]:
        found = [finding for finding in result["findings"] if finding["check"] == check["name"]]
        if found:
            yield from ("", f"{check['severity']} {check['name']}: {check['doc']}")
            yield from (f"  {_finding(finding)}" for finding in found[:_SHOWN])
        if len(found) > _SHOWN:
            yield (
                f"  and {len(found) - _SHOWN:,} more: "
                f"`dsh-lake check --only {check['name']} --format csv` shows all"
            )


def _finding(finding: Mapping[str, Any]) -> str:
    place = terminal_text(finding["path"] or finding["subject_id"] or "")
    position = terminal_text(finding["position"] or "")
    if finding["path"] and position.startswith("line "):
        place += f"#L{position.removeprefix('line ')}"
    elif position:
        place += f" {position}"
    return f"{place}: {terminal_text(finding['message'])}"


def _verdict(result: Mapping[str, Any]) -> str:
    failed, warned = (
        sum(1 for check in result["checks"] if check["severity"] == severity and check["findings"])
        for severity in ("fail", "warn")
    )
    total = len(result["checks"])
    if not failed and not warned:
        return f"{total:,} checks, no findings"
    return f"{total:,} checks: {failed:,} failed, {warned:,} with warnings"
