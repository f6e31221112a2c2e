"""What ``dsh-lake doctor`` and ``compact`` print for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dsh_lake.quantities import counted, size
from dsh_lake.terminal_text import terminal_text


def doctor_text(report: Mapping[str, Any], _: int | None) -> str:
    """The object of ``doctor --format json`` for people."""
    versions, lake = report["versions"], report["lake"]
    others = [name for name in versions if name not in ("dsh-lake", "python")]
    lines = [
        f"dsh-lake {versions['dsh-lake']} on Python {versions['python']}",
        ", ".join(f"{name} {versions[name] or 'absent'}" for name in others),
        f"home: {terminal_text(report['home'])}",
        f"lake: {terminal_text(lake['path'])}",
    ]
    if lake.get("scans") is not None:
        scans = f"{counted(lake['scans'], 'scan')}, the last {lake['last_scan_at']}"
        lines.append(f"      {size(lake['size_bytes'])}, {scans}")
    lines.append("")
    for check in report["checks"]:
        lines.append(f"{check['status']:<4}  {check['name']:<11}  {terminal_text(check['message'])}")
        if check["advice"]:
            lines.append(f"{'':<4}  {'':<11}  {terminal_text(check['advice'])}")
    return "".join(f"{line}\n" for line in lines)


def compaction_text(report: Mapping[str, Any], _: int | None) -> str:
    """The object of ``compact --format json`` for people."""
    files, volume, rows = (report[name] for name in ("files", "bytes", "rows"))
    lines = [
        f"files   {files['before']:,} before, {files['after']:,} after",
        f"size    {size(volume['before'])} before, {size(volume['after'])} after",
        f"rows    {rows['before']:,} before, {rows['after']:,} after",
        f"deleted {counted(report['deleted_files'], 'file')}, {size(report['deleted_bytes'])}",
        f"lake: {terminal_text(report['lake'])} (scan {report['scan_id'] or '-'})",
    ]
    return "".join(f"{line}\n" for line in lines)
