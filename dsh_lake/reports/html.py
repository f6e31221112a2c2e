"""A page as one HTML file that asks no network for anything and runs no script but its own.

Every text of the page goes through one place here: it is escaped for HTML, and what could turn or hide text
is shown as an escape. Data for scripts are JSON in which no character is left that could end a script or a
string. Should something slip through all the same, the page's own policy lets a browser run only the scripts
whose digests stand in it, and load nothing.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from importlib.resources import files
from typing import Any

from dsh_lake.errors import MissingExtra
from dsh_lake.reports.charts import library
from dsh_lake.reports.document import Chart, Page, Table, Terms
from dsh_lake.terminal_text import terminal_text


def html(page: Page) -> str:
    """The whole page.

    Raises:
        MissingExtra: what templates or charts need is not installed.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtra("an HTML page", "report") from error

    def made_safe(value: object) -> object:
        return terminal_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        autoescape=True, finalize=made_safe, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    scripts = [library(), _asset("page.js")] if page.charts else []
    data = [{"name": chart.name, "spec": chart.specify()} for chart in page.charts]
    return environment.from_string(_asset("page.html.jinja")).render(
        page=page,
        kind_of=_kind_of,
        style=Markup(_asset("page.css")),
        chart_data=Markup(script_json(data)),
        scripts=[Markup(script) for script in scripts],
        policy=Markup(_policy(scripts)),
    )


def script_json(value: Any) -> str:
    r"""JSON that can stand within a script of a page: another spelling of the same value.

    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _kind_of(block: Table | Chart | Terms) -> str:
    return type(block).__name__.lower()


def _policy(scripts: list[str]) -> str:
    digests = [b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    # Vega writes the style of its tooltips into the page.
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files("dsh_lake.reports") / "templates" / name).read_text("utf-8")
