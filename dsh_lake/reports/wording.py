"""Numbers, times and shares in words for people; what is not known is shown as such, never as zero."""

from __future__ import annotations

from dsh_lake.quantities import size
from dsh_lake.reports.document import UNKNOWN


def number(count: int | None) -> str:
    """A count with separators."""
    return UNKNOWN if count is None else f"{count:,}"


def percent(share: float | None) -> str:
    """A share of one as percent."""
    return UNKNOWN if share is None else f"{share:.1%}".replace("%", " %")


def interval(low: float | None, high: float | None) -> str:
    """A range of shares as percent."""
    return UNKNOWN if low is None or high is None else f"{low * 100:.1f} to {high * 100:.1f} %"


def money(amount: float | None, currency: str | None, *, is_partial: bool) -> str:
    """An amount, to a hundredth from one on, below to a hundredth of that; at least it, where parts are
    unknown."""
    if amount is None:
        return UNKNOWN
    digits = 2 if amount >= 1 else 4
    return f"{'≥ ' if is_partial else ''}{amount:,.{digits}f} {currency or ''}".rstrip()


def cost_heading(currency: str | None) -> str:
    """What stands above amounts of one currency."""
    return f"cost ({currency})" if currency else "cost"


def duration(milliseconds: int | None) -> str:
    """A time span in the units that one would say it in."""
    if milliseconds is None:
        return UNKNOWN
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"


def bytes_size(count: int | None) -> str:
    """Bytes in the largest decimal unit that leaves at least one whole."""
    return UNKNOWN if count is None else size(count)
