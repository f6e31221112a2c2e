"""Whether the measures of a period moved away from those of an earlier one, or only varied as they always do.

The rule: a measure is judged against its own usual spread, by one of two methods, and not at all where there
is too little to judge by.

- *Rates* (failures of so many) by Wilson's 95 % intervals of both periods as a whole: the rate moved when
  they do not overlap. Below ``MIN_TRIALS`` on either side the sample is too small.
- *Everything else* by its values on single days: the usual value is the median of the days of the earlier
  period, the usual spread 1.4826 times the median of their distances from it (MAD), which is the standard
  deviation where values are normal. Where more than half of the days are the same, and the MAD zero, it is
  1.2533 times the mean of the distances instead. The spread of a count is at least the square root of its
  usual value, and at least 1: that much is chance. The measure moved when the median of the days now lies
  more than ``REACH`` spreads from the usual value. Below ``MIN_DAYS`` earlier days the sample is too small.

The medians make one odd day harmless, on either side. Days without any activity are not counted as days.

Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993), for both factors; Wilson (1927) for
the intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, median
from typing import Any

REACH = 3.0
"""How many usual spreads a measure may be away from its usual value."""
MIN_DAYS = 5
"""Days of the earlier period that it takes to know a usual spread."""
MIN_TRIALS = 20
"""Calls or turns that it takes on each side to compare a rate."""
_MAD_TO_DEVIATION = 1.4826
_MEAN_TO_DEVIATION = 1.2533

RATES = {"tool_error_rate": ("tool_errors", "tool_calls"), "turn_error_rate": ("turns_failed", "turns")}
"""Measures that are so many of so many, with what they are made of."""
COUNTS = ("sessions", "turns", "human_messages", "tool_calls", "tool_interrupted", "retries", "attempts")
"""Measures that count things that happen, so that chance alone makes them vary."""
SHARES = ("cache_read_share",)
DAILY = (
    *COUNTS,
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "total_tokens",
    "cache_read_share",
    "cost",
    "turn_duration_ms_p50",
    "turn_duration_ms_p90",
    "first_token_ms_p50",
    "first_token_ms_p90",
    "tool_duration_ms_p50",
    "tool_duration_ms_p90",
)
"""Measures that are judged by their values on single days."""

Measures = Mapping[str, Any]
Shift = dict[str, Any]


def shifts(
    then: Measures, then_days: Sequence[Measures], now: Measures, now_days: Sequence[Measures]
) -> list[Shift]:
    """What became of each measure.

    Args:
        then: the measures of the earlier period as a whole; ``then_days`` those of each of its days.
        now: as ``then``, of the period that is compared with it.

    Returns:
        One object per measure, rates first: ``measure``, ``method`` (``intervals`` or ``days``), ``then`` and
        ``now`` (the rate, or the median of the days), ``change`` (now - then), ``low`` and ``high`` (between
        them ``now`` is as usual; of rates the interval of the earlier period), ``then_count`` and
        ``now_count`` (how many trials or days), ``verdict`` (``moved``, ``as usual`` or ``too few``).
    """
    return [
        *(_rate_shift(name, then, now) for name in RATES),
        *(_daily_shift(name, _known(then_days, name), _known(now_days, name)) for name in DAILY),
    ]


def _rate_shift(name: str, then: Measures, now: Measures) -> Shift:
    trials = RATES[name][1]
    low, high = f"{name}_low", f"{name}_high"
    counts = (then[trials] or 0, now[trials] or 0)
    bounds = (then[low], then[high], now[low], now[high])
    # A rate without bounds (more failures than calls: some answer inherited calls) is none to compare.
    if min(counts) < MIN_TRIALS or None in bounds:
        verdict = "too few"
    else:
        verdict = "moved" if now[low] > then[high] or now[high] < then[low] else "as usual"
    return _shift(name, "intervals", then[name], now[name], (then[low], then[high]), counts, verdict)


def _daily_shift(name: str, then: Sequence[float], now: Sequence[float]) -> Shift:
    usual, found = (float(median(values)) if values else None for values in (then, now))
    counts = (len(then), len(now))
    if usual is None or found is None or len(then) < MIN_DAYS:
        return _shift(name, "days", usual, found, (None, None), counts, "too few")
    chance = max(1.0, sqrt(usual)) if name in COUNTS else 0.0
    reach = REACH * max(chance, usual_spread(then))
    # No measure is below zero, and no share above one.
    bounds = (max(0.0, usual - reach), min(usual + reach, 1.0) if name in SHARES else usual + reach)
    # A difference in the last bits of a float is none.
    slack = 1e-9 * max(abs(usual), abs(found))
    is_usual = bounds[0] - slack <= found <= bounds[1] + slack
    return _shift(name, "days", usual, found, bounds, counts, "as usual" if is_usual else "moved")


def usual_spread(values: Sequence[float]) -> float:
    """How far values usually lie from their median, as a standard deviation; zero where all are the same."""
    middle = median(values)
    distances = [abs(value - middle) for value in values]
    return _MAD_TO_DEVIATION * median(distances) or _MEAN_TO_DEVIATION * fmean(distances)


def _known(days: Sequence[Measures], name: str) -> list[float]:
    """The values of days where it is known; a cost that leaves out calls without a price is not."""
    return [
        day[name] for day in days if day[name] is not None and not (name == "cost" and day["unpriced_calls"])
    ]


def _shift(
    name: str,
    method: str,
    then: float | None,
    now: float | None,
    bounds: tuple[float | None, float | None],
    counts: tuple[int, int],
    verdict: str,
) -> Shift:
    change = None if then is None or now is None else now - then
    return {
        "measure": name,
        "method": method,
        "then": then,
        "now": now,
        "change": change,
        "low": bounds[0],
        "high": bounds[1],
        "then_count": counts[0],
        "now_count": counts[1],
        "verdict": verdict,
    }
