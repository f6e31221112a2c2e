"""Counts and sizes in words for people."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """A count with what is counted, in the singular or plural."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def size(count: int) -> str:
    """Bytes in the largest decimal unit that leaves at least one whole."""
    scaled = float(count)
    for unit in ("bytes", "kB", "MB"):
        if scaled < 1000:
            return f"{scaled:,.0f} bytes" if unit == "bytes" else f"{scaled:,.1f} {unit}"
        scaled /= 1000
    return f"{scaled:,.1f} GB"
