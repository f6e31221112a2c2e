"""The usage page in a real browser: nothing is asked of a network, charts are drawn, a phone shows all of it.

Skipped where there is no Chromium: it is no Python package, so the project cannot bring it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dsh_lake
from demo_lake import DemoLake
from reports.browser import CHROMIUM, Browser, browser
from reports.conftest import HostileLake

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, such as Debian's package")


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module", params=["demo", "hostile"])
def page(
    request: pytest.FixtureRequest,
    demo: DemoLake,
    hostile: HostileLake,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    path = tmp_path_factory.mktemp("page") / "usage.html"
    dsh_lake.report_usage(path, lake=(demo if request.param == "demo" else hostile).lake, titles=True)
    return path


def test_on_paper_nothing_is_folded(page: Path, tab: Browser) -> None:
    tab.open(page, width=760, media="print", scheme="light")
    is_open = "[...document.querySelectorAll('details')].map(details => details.open)"
    assert set(tab.evaluate(is_open)) == {False}
    tab.evaluate("document.querySelector('details').open = true")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert set(tab.evaluate(is_open)) == {True}
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    first, *others = tab.evaluate(is_open)
    assert first
    assert not any(others)


@pytest.mark.parametrize(
    ("width", "media", "scheme"),
    [(360, "", "light"), (360, "", "dark"), (993, "", "light"), (1200, "", "dark"), (760, "print", "dark")],
)
def test_it_is_drawn_whole_and_asks_nobody_for_anything(
    page: Path, tab: Browser, width: int, media: str, scheme: str
) -> None:
    tab.open(page, width=width, media=media, scheme=scheme)
    marks = "svg .mark-rect path, svg .mark-line path"
    drawn = tab.evaluate(
        f"[...document.querySelectorAll('.chart')].map(chart => chart.querySelectorAll('{marks}').length)"
    )
    assert len(drawn) >= 2
    assert all(drawn)
    # Not innerWidth: a phone zooms out until a page that is too wide fits.
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("document.querySelectorAll('script').length") == 3
    assert tab.evaluate("document.title") == "Agent usage"
    assert tab.requests() == [page.resolve().as_uri()]
    assert tab.complaints() == []


def test_charts_and_text_follow_the_scheme(page: Path, tab: Browser) -> None:
    colours = {}
    for media, scheme in (("", "light"), ("", "dark"), ("print", "dark")):
        tab.open(page, width=1200, media=media, scheme=scheme)
        colours[media or scheme] = [
            tab.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
            for where, what in (
                ("body", "backgroundColor"),
                ("body", "color"),
                (".chart svg .mark-text text", "fill"),
                (".chart svg .mark-rect path", "fill"),
            )
        ]
    assert all(light != dark for light, dark in zip(colours["light"], colours["dark"], strict=True))
    assert colours["print"][0] == "rgb(255, 255, 255)"
    assert colours["print"][3] == colours["light"][3]


def test_a_script_that_is_not_the_pages_own_is_not_run(page: Path, tab: Browser) -> None:
    """Should escaping ever fail, the page's policy still holds."""
    planted = page.with_name("planted.html")
    owned = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    planted.write_text(page.read_text("utf-8").replace("<main>", f"<main>{owned}"), "utf-8")
    tab.open(planted, width=1200)
    assert tab.evaluate("document.title") == "Agent usage"
    assert tab.complaints() != []
