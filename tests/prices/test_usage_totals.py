"""Whatever usage is summed by, the sums are the same: those of the scan, and costs as priced one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dsh_lake.engine import Connection
from scanned_homes import ALL_HOMES, HOMES, name_of, scanned_home

GRAINS = (
    "usage_overall",
    "usage_by_day",
    "usage_by_week",
    "usage_by_model",
    "usage_by_provider",
    "usage_by_kind",
    "usage_by_workspace",
    "usage_by_session",
    "usage_by_root_session",
    "usage_by_turn",
)
TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning", "total")
COSTS = ("input_cost", "output_cost", "cache_read_cost", "cache_write_cost", "cost")


@pytest.fixture(scope="module", params=[None, *HOMES], ids=name_of)
def scanned(request: pytest.FixtureRequest) -> tuple[Connection, dict[str, Any]]:
    """A connection to the lake of a home, and the summary of its scan."""
    known = scanned_home(request.param)
    return known.connection, known.summary


Scanned = tuple[Connection, dict[str, Any]]


def totals(connection: Connection, view: str) -> dict[str, Any]:
    names = ["calls", "unpriced_calls", *(f"{name}_tokens" for name in TOKENS), *COSTS]
    sums = ", ".join(f"coalesce(sum({name}), 0) as {name}" for name in names)
    row = connection.execute(f"select {sums} from {view}").fetchone()
    assert row is not None
    return dict(zip(names, row, strict=True))


def test_sums_over_any_grain_are_those_of_the_scan(scanned: Scanned) -> None:
    connection, summary = scanned
    found = {view: totals(connection, view) for view in GRAINS}
    whole = found["usage_overall"]
    assert {name: whole[f"{name}_tokens"] for name in TOKENS} == summary["tokens"]
    for view, sums in found.items():
        assert {name: sums[name] for name in sums if name not in COSTS} == {
            name: whole[name] for name in whole if name not in COSTS
        }, view
        assert [sums[name] for name in COSTS] == pytest.approx([whole[name] for name in COSTS], rel=1e-12)


def test_the_share_overall_is_that_of_the_scan(scanned: Scanned) -> None:
    connection, summary = scanned
    ((share,),) = connection.execute("select cache_read_share from usage_overall").fetchall()
    assert share == (None if share is None else pytest.approx(summary["cache_read_share"], rel=1e-12))
    spread = connection.execute("select cache_read_share from cache_share_distribution").fetchall()
    assert [one for (one,) in spread] == pytest.approx([share, share], rel=1e-12)


# -- the published prices, written down and applied a second time ------------------------------------------

_BEIJING = timezone(timedelta(hours=8))
_PROMOTION, _PEAKS, _FLASH = (
    datetime(2026, 4, 26, 12, 15, tzinfo=UTC),
    datetime(2026, 8, 17, tzinfo=_BEIJING),
    datetime(2026, 9, 10, tzinfo=UTC),
)


def _published(model: str, at: datetime) -> tuple[str, ...] | None:
    """Cache hit, input and output of a million tokens in dollars, as in the table of published prices."""
    local = at.astimezone(_BEIJING)
    is_weekday = local.weekday() < 5 or local.date().isoformat() < "2026-08-23"
    is_peak = is_weekday and (9 <= local.hour < 12 or 14 <= local.hour < 18)
    if at >= _FLASH and model in ("deepseek-flash", "deepseek-v4-flash", "deepseek-v4-flash-vision-exp"):
        return ("0.006", "0.30", "1.20") if is_peak else ("0.003", "0.15", "0.60")
    if model == "deepseek-v4-flash":
        if at >= _PEAKS:
            return ("0.014", "0.44", "1.32") if is_peak else ("0.007", "0.22", "0.66")
        return ("0.0028", "0.14", "0.28") if at >= _PROMOTION else ("0.028", "0.14", "0.28")
    if model == "deepseek-v4-pro":
        if at >= _PEAKS:
            return ("0.044", "1.32", "3.96") if is_peak else ("0.022", "0.66", "1.98")
        return ("0.003625", "0.435", "0.87") if at >= _PROMOTION else ("0.145", "1.74", "3.48")
    return None


def test_every_call_costs_what_the_published_prices_say(scanned: Scanned) -> None:
    connection, _ = scanned
    rows = connection.execute(
        'select model, "at", input_tokens, output_tokens, coalesce(cache_read_tokens, 0), '
        "coalesce(cache_write_tokens, 0), cost from usage_cost where input_tokens is not null"
    ).fetchall()
    for model, at, given, answered, read, written, cost in rows:
        figures = _published(model, at) if model is not None and at is not None else None
        if figures is None:
            assert cost is None, (model, at)
        else:
            hit, plain, out = map(Decimal, figures)
            expected = (read * hit + (given + written) * plain + answered * out) / 1_000_000
            assert cost == pytest.approx(float(expected), rel=1e-12), (model, at)


def test_there_are_homes_to_compare_with(shared: Path) -> None:
    assert len(ALL_HOMES) >= 29
