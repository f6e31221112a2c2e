"""Numbers for people."""

from __future__ import annotations

from dsh_lake.cli.layout import NOTHING


def percent(share: float | None) -> str:
    """A share of one as percent; what is not known as such."""
    return NOTHING if share is None else f"{share:.1%}"
