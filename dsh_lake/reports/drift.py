"""``dsh-lake report drift``: what broke, since when, and where to look, as one page."""

from __future__ import annotations

import os
from typing import NamedTuple

from dsh_lake.drift.history import Night, read_nights
from dsh_lake.drift.verdict import Drift, fixtures_drift
from dsh_lake.errors import UsageError
from dsh_lake.reports.drift_page import drift_page
from dsh_lake.reports.html import html
from dsh_lake.reports.markdown import markdown

_WRITERS = {"html": html, "markdown": markdown}


class DriftReport(NamedTuple):
    """The page, and what it is about."""

    text: str
    drift: Drift


def report_drift(
    expected: str | os.PathLike[str],
    actual: str | os.PathLike[str],
    *,
    format: str = "markdown",
    earlier: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    with_text: bool = False,
    found: Drift | None = None,
) -> DriftReport:
    """A page about what differs between fixtures and fresh runs.

    Args:
        expected: as of :func:`dsh_lake.fixtures_drift`.
        actual: the same.
        format: ``html``, which needs the extra ``report``, or ``markdown``.
        earlier: a folder with the JSON results of earlier nights, for since when something differs.
        config: how grave each tier is.
        with_text: show the lines that differ, which hold what people and models said.
        found: what :func:`dsh_lake.fixtures_drift` gave for the two sides, where that is known already.

    Raises:
        MissingExtra: HTML is asked for without the extra ``report``.
        UsageError: the format or the configuration makes no sense.
        UnreadableSource: a side or the earlier results cannot be read.
    """
    if format not in _WRITERS:
        raise UsageError(f"the format is {format!r}, not html or markdown")
    nights: list[Night] | None = read_nights(earlier) if earlier is not None else None
    drift = found if found is not None else fixtures_drift(expected, actual, config=config)
    page = drift_page(drift, (os.fspath(expected), os.fspath(actual)), nights, with_text=with_text)
    return DriftReport(_WRITERS[format](page), drift)
