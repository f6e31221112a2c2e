"""What ``dsh-lake show`` prints for people: a head line, remarks, and the record as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dsh_lake.terminal_text import terminal_json, terminal_text


def record_text(shown: Mapping[str, Any], _: int | None) -> str:
    """The object of ``show --format json`` for people."""
    lines = [_head(shown), *(f"note: {terminal_text(note)}" for note in shown["notes"])]
    if "rejected" in shown:
        rejected = shown["rejected"]
        lines += [
            f"rejected ({rejected['code']}): {terminal_text(rejected['message'])}",
            f"bytes from {shown['hex_offset']} of the line on:",
            *_dump(bytes.fromhex(shown["hex"])),
        ]
    elif shown["record"] is not None:
        lines.append(_json(shown["record"]))
    if "member" in shown:
        lines += [f"the event seq {shown['member']['seq']} in it:", _json(shown["member"])]
    return "".join(f"{line}\n" for line in lines)


def _head(shown: Mapping[str, Any]) -> str:
    parts = [f"{terminal_text(shown['path'])}#L{shown['line']}"]
    if shown["frame"] is not None:
        parts.append(f"frame {shown['frame']}")
    if shown["byte_offset"] is not None:
        parts.append(f"byte {shown['byte_offset']}")
    if shown["seq"] is not None:
        members = shown.get("members", 1)
        last = f" to {shown['seq'] + members - 1}" if members > 1 else ""
        parts.append(f"seq {shown['seq']}{last}")
    parts += [terminal_text(shown[name]) for name in ("time", "type") if shown[name] is not None]
    return "  ".join(parts)


def _json(value: Any) -> str:
    return terminal_json(json.dumps(value, ensure_ascii=False, indent=2))


def _dump(content: bytes) -> list[str]:
    """Hexadecimal numbers, sixteen a line, and beside them what of it is printable."""
    rows = [content[at : at + 16] for at in range(0, len(content), 16)]
    return [
        f"  {row.hex(' '):<47}  {''.join(chr(byte) if 32 <= byte < 127 else '.' for byte in row)}"
        for row in rows
    ]
