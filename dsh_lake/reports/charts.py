"""Charts of a page as Vega-Lite specifications, and the library that draws them.

Colours are names of the page's style (``var(--...)``), so that a chart follows it: light, dark and in print.
Time is taken as it is given: days of the lake's zone, whatever zone the reader's machine is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

from dsh_lake.errors import MissingExtra
from dsh_lake.whole_files import written_whole

if TYPE_CHECKING:
    import altair

Row = Mapping[str, Any]
COLOURS = tuple(f"var(--series-{number})" for number in range(1, 5))
"""The colours of what is stacked, in its order."""
_HEIGHT = 190
_SHORT = "abs(datum.value) < 1000 ? format(datum.value, ',~f') : replace(format(datum.value, '~s'), 'G', 'B')"
"""Numbers at an axis: small ones as they are, thousands, millions and billions in short."""
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_NOTICE = (
    "/* Vega, Vega-Lite and Vega-Embed, copyright University of Washington Interactive Data Lab and "
    "contributors: BSD 3-Clause License, https://github.com/vega. */\n"
)


def stacked_by_day(
    days: Iterable[Row], series: Mapping[str, str], *, by_month: bool, measure: str
) -> dict[str, Any]:
    """Bars by day or month, stacked.

    Args:
        days: rows with ``day`` (YYYY-MM-DD) and numbers, null where unknown.
        series: names of what is stacked, from the bottom, with the member of the rows that holds each.
        by_month: a bar is a month.
        measure: what is measured, or its unit.
    """
    alt = _altair()
    values = [
        {"day": row["day"], "series": name, "order": order, "value": row[member]}
        for row in days
        for order, (name, member) in enumerate(series.items())
        if row[member] is not None
    ]
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=_time(by_month),
            y=alt.Y("value:Q", title=None, stack="zero", axis=alt.Axis(labelExpr=_SHORT, tickCount=4)),
            color=alt.Color(
                "series:N",
                legend=None,
                scale=alt.Scale(domain=list(series), range=list(COLOURS[: len(series)])),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("day:T", timeUnit=_unit(by_month), title="month" if by_month else "day"),
                alt.Tooltip("series:N", title="part"),
                alt.Tooltip("value:Q", title=measure, format=",~f"),
            ],
        )
    )
    return _finished(chart)


def share_by_day(days: Iterable[Row], member: str, *, by_month: bool, measure: str) -> dict[str, Any]:
    """A line of shares of one over days or months; it is broken where the share is not known."""
    alt = _altair()
    values = [{"day": row["day"], "value": row[member]} for row in days]
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(point=alt.OverlayMarkDef(color=COLOURS[1], size=24), color=COLOURS[1], strokeWidth=2)
        .encode(
            x=_time(by_month),
            y=alt.Y(
                "value:Q",
                title=None,
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
            ),
            tooltip=[
                alt.Tooltip("day:T", timeUnit=_unit(by_month), title="month" if by_month else "day"),
                alt.Tooltip("value:Q", title=measure, format=".1%"),
            ],
        )
    )
    return _finished(chart)


def _unit(by_month: bool) -> str:
    return "utcyearmonth" if by_month else "utcyearmonthdate"


def _time(by_month: bool) -> altair.X:
    alt = _altair()
    axis = alt.Axis(
        format="%b %Y" if by_month else "%d %b",
        labelOverlap="greedy",
        labelSeparation=10,
        labelFlush=True,
        tickCount=6,
        grid=False,
    )
    x: altair.X = alt.X("day:T", timeUnit=_unit(by_month), title=None, axis=axis)
    return x


def _finished(chart: altair.Chart) -> dict[str, Any]:
    ink, line = "var(--ink-soft)", "var(--line)"
    axis = {"labelColor": ink, "labelFontSize": 11, "gridColor": line, "domainColor": line, "tickColor": line}
    spec: dict[str, Any] = (
        chart.properties(width="container", height=_HEIGHT, background="transparent")
        .configure(
            font="system-ui, sans-serif",
            axis=axis,
            view={"stroke": None},
            autosize={"type": "fit", "contains": "padding"},
        )
        .to_dict()
    )
    return spec


@cache
def library() -> str:
    """The JavaScript that draws the charts, Vega-Embed with all it needs: a script that defines
    ``vegaEmbed``.

    It takes seconds to put together, so it is kept among the user's caches.

    Raises:
        MissingExtra: the extra ``report`` is not installed.
    """
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra("a page with charts", "report") from error
    dialect = _vega_lite_version()
    name = f"vega-lite-{dialect}-{version('vl-convert-python')}.js"
    kept = user_cache_path("dsh-lake", appauthor=False) / name
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text("utf-8")
    script = _NOTICE + _within_html(vl_convert.javascript_bundle(_SNIPPET, dialect))
    with suppress(OSError):
        _keep(kept, script)
    return script


def _vega_lite_version() -> str:
    """The version of Vega-Lite that altair writes specifications for, by its first two numbers."""
    return ".".join(_altair().SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _within_html(script: str) -> str:
    """The script without what would end it, or begin a comment, within a page; such text stands in strings
    alone."""
    return re.sub("<(?=/script)", r"<\\", script, flags=re.IGNORECASE).replace("<!--", r"<\!--")


def _keep(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with written_whole(path, is_private=True) as sink:
        sink.write(script.encode("utf-8"))


@cache
def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise MissingExtra("a page with charts", "report") from error
    return altair
