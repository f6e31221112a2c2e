"""What ``dsh-lake redact-check`` prints for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dsh_lake.cli.layout import NOTHING, Column, table
from dsh_lake.quantities import counted
from dsh_lake.terminal_text import terminal_text

_SHOWN = 50
"""Places that are shown before the rest is only counted."""


def redact_check_text(result: Mapping[str, Any], width: int | None) -> str:
    """Every kind with what was found of it, the places, and a verdict."""
    kinds, findings = result["kinds"], result["findings"]
    columns = [
        Column("kind", [kind["kind"] for kind in kinds], is_rigid=True),
        Column("secrets", [f"{kind['secrets']:,}" for kind in kinds], is_number=True),
        Column("places", [f"{kind['places']:,}" for kind in kinds], is_number=True),
        Column("what it is", [kind["doc"] for kind in kinds]),
    ]
    lines = [*table(columns, width), *_places(findings, width), "", _verdict(result)]
    return "".join(f"{line}\n" for line in lines)


def _places(findings: list[Mapping[str, Any]], width: int | None) -> Iterator[str]:
    shown = findings[:_SHOWN]
    if shown:
        yield ""
        yield from table(
            [
                Column("kind", [finding["kind"] for finding in shown], is_rigid=True),
                Column(
                    "fingerprint", [finding["fingerprint"] or NOTHING for finding in shown], is_rigid=True
                ),
                Column("column", [f"{finding['table']}.{finding['column']}" for finding in shown]),
                Column("place", [_place(finding) for finding in shown]),
            ],
            width,
        )
    if len(findings) > _SHOWN:
        yield f"and {len(findings) - _SHOWN:,} more: `dsh-lake redact-check --format csv` shows all"


def _place(finding: Mapping[str, Any]) -> str:
    line = "" if finding["line"] is None else f"#L{finding['line']}"
    remark = "" if finding["is_current"] else " (before it changed)"
    return f"{terminal_text(finding['path'])}{line}{remark}"


def _verdict(result: Mapping[str, Any]) -> str:
    findings = result["findings"]
    if not findings:
        return f"no secrets in {counted(len(result['columns']), 'column')} of text"
    secrets = sum(kind["secrets"] for kind in result["kinds"])
    found = f"{counted(secrets, 'secret')} in {counted(len(findings), 'place')}"
    return f"{found}; `dsh-lake show PLACE` shows the record that holds it"
