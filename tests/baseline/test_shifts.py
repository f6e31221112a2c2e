"""When a measure has moved: everything here is worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_lake.shifts import DAILY, shifts, usual_spread

NOTHING: dict[str, Any] = {
    **dict.fromkeys(DAILY),
    **dict.fromkeys(("tool_errors", "tool_calls", "turns_failed", "turns"), 0),
    **dict.fromkeys(f"{of}_error_rate{end}" for of in ("tool", "turn") for end in ("", "_low", "_high")),
    "unpriced_calls": 0,
}
# Wilson's intervals, from published tables: of 5 in 100, of 20 in 100, of 10 in 100.
FIVE = {"tool_errors": 5, "tool_calls": 100, "tool_error_rate": 0.05}
FIVE |= {"tool_error_rate_low": 0.0215, "tool_error_rate_high": 0.1118}
TWENTY = {"tool_errors": 20, "tool_calls": 100, "tool_error_rate": 0.2}
TWENTY |= {"tool_error_rate_low": 0.1334, "tool_error_rate_high": 0.2888}
TEN = {"tool_errors": 10, "tool_calls": 100, "tool_error_rate": 0.1}
TEN |= {"tool_error_rate_low": 0.0552, "tool_error_rate_high": 0.1744}


def days(measure: str, *values: float | None, **more: Any) -> list[dict[str, Any]]:
    return [{**NOTHING, **more, measure: value} for value in values]


def shift(measure: str, *found: Any) -> dict[str, Any]:
    (one,) = (one for one in shifts(*found) if one["measure"] == measure)
    return one


def rate(then: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    return shift("tool_error_rate", NOTHING | then, [], NOTHING | now, [])


def daily(measure: str, then: list[float], now: list[float]) -> dict[str, Any]:
    return shift(measure, NOTHING, days(measure, *then), NOTHING, days(measure, *now))


def test_a_rate_moved_when_the_intervals_do_not_overlap() -> None:
    moved = rate(FIVE, TWENTY)
    assert moved == {
        "measure": "tool_error_rate",
        "method": "intervals",
        "then": 0.05,
        "now": 0.2,
        "change": pytest.approx(0.15),
        "low": 0.0215,
        "high": 0.1118,
        "then_count": 100,
        "now_count": 100,
        "verdict": "moved",
    }
    assert rate(TWENTY, FIVE)["verdict"] == "moved"
    assert rate(FIVE, TEN)["verdict"] == rate(TEN, FIVE)["verdict"] == "as usual"


def test_a_rate_of_few_is_not_judged() -> None:
    """19 of 19 failed where 5 of 100 did: 20 is what it takes."""
    all_failed = {"tool_errors": 19, "tool_calls": 19, "tool_error_rate": 1.0}
    all_failed |= {"tool_error_rate_low": 0.8318, "tool_error_rate_high": 1.0}
    few = rate(FIVE, all_failed)
    assert (few["verdict"], few["now_count"]) == ("too few", 19)
    assert rate(all_failed, FIVE)["verdict"] == "too few"
    assert rate(FIVE, all_failed | {"tool_errors": 20, "tool_calls": 20})["verdict"] == "moved"
    assert rate({}, {})["verdict"] == "too few"


def test_a_rate_without_bounds_is_not_judged() -> None:
    """More failures than calls: a fork answered calls of its parent."""
    odd = {"tool_errors": 30, "tool_calls": 25, "tool_error_rate": 1.2}
    assert rate(FIVE, odd)["verdict"] == "too few"


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        # Distances from 3: 2 1 0 1 2, their median 1.
        ([1, 2, 3, 4, 5], 1.4826),
        # One day that is far off changes nothing: distances 2 1 0 1 96.
        ([1, 2, 3, 4, 99], 1.4826),
        # Distances 0 0 0 0 10: the median is zero, the mean 2.
        ([7, 7, 7, 7, 17], 2 * 1.2533),
        ([7, 7, 7], 0),
        # Median 15, distances 5 5.
        ([10, 20], 5 * 1.4826),
    ],
)
def test_the_usual_spread(values: list[float], spread: float) -> None:
    assert usual_spread(values) == pytest.approx(spread)


def test_a_measure_moved_when_it_is_more_than_three_spreads_away() -> None:
    """Usual is 300 with a spread of 100 x 1.4826: from 0 (-144.78, but nothing is below) to 744.78."""
    then = [100, 200, 300, 400, 500]
    inside, outside = (daily("total_tokens", then, [now]) for now in (744, 745))
    assert (inside["then"], inside["now"], inside["change"]) == (300, 744, 444)
    assert (inside["low"], inside["high"]) == (0, pytest.approx(744.78))
    assert (inside["verdict"], outside["verdict"]) == ("as usual", "moved")
    assert (outside["method"], outside["then_count"], outside["now_count"]) == ("days", 5, 1)


def test_one_odd_day_of_several_is_not_the_usual_day() -> None:
    then = [100, 200, 300, 400, 500]
    assert daily("total_tokens", then, [300, 9000, 310])["verdict"] == "as usual"
    assert daily("total_tokens", then, [300, 9000, 9000])["verdict"] == "moved"


def test_days_that_are_all_the_same_allow_no_change_but_rounding() -> None:
    then = [0.1 + 0.2] * 5
    assert daily("cache_read_share", then, [0.3])["verdict"] == "as usual"
    assert daily("cache_read_share", then, [0.31])["verdict"] == "moved"


def test_a_count_varies_by_chance_at_least() -> None:
    """Sixteen turns on every day: 4 is the square root, so up to 28 is chance. Of nothing a day up to 3."""
    then = [16.0] * 5
    assert (daily("turns", then, [28])["verdict"], daily("turns", then, [29])["verdict"]) == (
        "as usual",
        "moved",
    )
    assert (daily("turns", then, [4])["verdict"], daily("turns", then, [3])["verdict"]) == (
        "as usual",
        "moved",
    )
    assert daily("retries", [0.0] * 5, [3])["verdict"] == "as usual"
    assert daily("retries", [0.0] * 5, [4])["verdict"] == "moved"


def test_a_share_is_at_most_one() -> None:
    assert daily("cache_read_share", [0.5, 0.7, 0.9, 0.9, 0.95], [1.0])["high"] == 1.0


def test_few_days_are_not_judged() -> None:
    few = daily("total_tokens", [1, 1, 1, 1], [9000])
    assert (few["verdict"], few["then"], few["now"], few["low"]) == ("too few", 1, 9000, None)
    nothing = daily("total_tokens", [1, 2, 3, 4, 5], [])
    assert (nothing["verdict"], nothing["now"], nothing["change"]) == ("too few", None, None)


def test_days_of_which_a_measure_is_not_known_are_not_counted() -> None:
    then = days("cache_read_share", 0.5, None, 0.5, 0.5, 0.5)
    one = shift("cache_read_share", NOTHING, then, NOTHING, days("cache_read_share", 0.5))
    assert (one["verdict"], one["then_count"]) == ("too few", 4)


def test_a_cost_that_leaves_out_calls_is_not_known() -> None:
    then = days("cost", *[1.0] * 5)
    now = [*days("cost", 9.0, unpriced_calls=3), *days("cost", 1.0)]
    one = shift("cost", NOTHING, then, NOTHING, now)
    assert (one["now"], one["now_count"], one["verdict"]) == (1.0, 1, "as usual")
