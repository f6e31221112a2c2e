"""Nothing that comes from archives is markup or script on a page, in HTML or in Markdown."""

from __future__ import annotations

import io
import json
import re
from html import unescape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dsh_lake
from dsh_lake.reports.document import Column, Figure, Page, Section, Table, Terms
from dsh_lake.reports.html import html, script_json
from dsh_lake.reports.markdown import code, markdown, plain
from dsh_lake.reports.references import show_command
from dsh_lake.terminal_text import terminal_text
from reports.conftest import (
    ARGUMENT,
    HOSTILE_FOLDER,
    HOSTILE_MODEL,
    HOSTILE_SESSION,
    HOSTILE_TITLE,
    HOSTILE_TOOL,
    PROMPT,
    RESULT,
    HostileLake,
)
from reports.pages import ParsedPage

EXPECTED_ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "script", "noscript"),
    *("h1", "h2", "h3", "p", "div", "span", "strong", "code", "ul", "li", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure"),
}
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def page_of(lake: HostileLake, format: str, *, titles: bool = True) -> str:
    sink = io.BytesIO()
    dsh_lake.report_usage(sink, lake=lake.lake, format=format, titles=titles)
    return sink.getvalue().decode()


@pytest.fixture(scope="module")
def hostile_page(hostile: HostileLake) -> str:
    return page_of(hostile, "html")


def test_no_element_or_attribute_comes_from_an_archive(hostile_page: str) -> None:
    page = ParsedPage(hostile_page)
    assert {name for name, _ in page.elements} <= EXPECTED_ELEMENTS
    names = {attribute for _, attributes in page.elements for attribute in attributes}
    assert not names & {"href", "src", "action", "formaction", "srcset", "style", "xlink:href"}
    assert not [name for name in names if name.startswith("on")]


def test_hostile_names_are_shown_as_they_are_with_escapes_for_what_turns_text(hostile_page: str) -> None:
    page = ParsedPage(hostile_page)
    for text in (HOSTILE_TOOL, HOSTILE_MODEL, HOSTILE_TITLE, HOSTILE_FOLDER.strip("-")):
        assert terminal_text(text) in page.text
    before_charts = hostile_page[: hostile_page.index('<script type="application/json"')]
    assert not UNSAFE.search(before_charts)


def test_the_page_has_three_scripts_of_its_own_and_names_them_in_its_policy(hostile_page: str) -> None:
    page = ParsedPage(hostile_page)
    assert len(page.scripts) == 3
    assert not any("alert(1)" in script or "owned" in script for script in page.scripts)
    (policy,) = [
        attributes["content"]
        for name, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[^ ;]+' 'sha256-[^ ;]+';", policy)


@pytest.mark.parametrize("format", ["html", "markdown"])
def test_prompts_arguments_and_results_are_on_no_page_and_titles_where_asked_for(
    hostile: HostileLake, format: str
) -> None:
    text = page_of(hostile, format, titles=False)
    for secret in (PROMPT, ARGUMENT, RESULT, "\\x1b[31m", "\\\\x1b\\[31m"):
        assert secret not in text


def test_markdown_of_hostile_names_is_text(hostile: HostileLake) -> None:
    text = page_of(hostile, "markdown")
    assert not UNSAFE.search(text)
    assert not re.search(r"<(?!!-- -->)", re.sub(r"(?<![\\`])(`+)[^`].*?\1(?!`)", "", text))
    assert not re.search(r"(?<!\\)\]\(", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
    ruled = [at for at, row in enumerate(rows) if row.startswith("| ---")]
    assert all(widths[at - 1] == widths[at] == widths[at + 1] for at in ruled)


HOSTILE_TEXT = st.text(
    st.sampled_from("<>&'\"`|\\[]()!*_~#$@:/.-\n\r\t\u2028\u202e\x00\x1b{}%aA1 ") | st.characters(),
    max_size=30,
)


@example("</style></script>\"'><!-- {{7*7}} {% x %} &lt; \u202e")
@given(HOSTILE_TEXT)
def test_any_text_on_a_page_is_text(text: str) -> None:
    columns = [Column("name"), Column("command", is_code=True)]
    table = Table(text, columns, [[text, text]], text, text, is_folded=True)
    page = Page(
        text,
        [text],
        [text],
        [Figure(text, text, text)],
        [Section(text, [text], [table, Terms({text: text})])],
    )
    parsed = ParsedPage(html(page))
    assert {name for name, _ in parsed.elements} <= EXPECTED_ELEMENTS
    assert parsed.scripts == []
    assert parsed.table("name") == [{"name": shown(text), "command": shown(text)}]


def shown(text: str) -> str:
    """What a reader sees of it."""
    return terminal_text(text).strip()


JSON_VALUES = st.recursive(
    HOSTILE_TEXT, lambda inner: st.lists(inner) | st.dictionaries(HOSTILE_TEXT, inner), max_leaves=5
)


@example(["</script>", "<!--", "<script>", "&lt;", "\u2028"])
@given(JSON_VALUES)
@settings(max_examples=50)
def test_data_for_scripts_are_the_same_data_and_cannot_leave_their_script(value: object) -> None:
    text = script_json(value)
    assert json.loads(text) == json.loads(json.dumps(value))
    assert text.isascii()
    assert not set(text) & set("<>&")


@example("&amp; <b> \\`*_[]#|~$ https://x.y www.x.y a@b.c")
@given(HOSTILE_TEXT)
def test_plain_markdown_reads_back_as_the_text(text: str) -> None:
    """Undone by the rules of CommonMark: entities and backslash escapes."""
    escaped = plain(text).replace("<!-- -->", "")
    assert "<" not in escaped
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]|~]", escaped)
    assert unescape(re.sub(r"\\([\\`*_\[\]#|~$])", r"\1", escaped)) == terminal_text(text)


@given(st.text(st.sampled_from("a`| "), min_size=1, max_size=12))
def test_a_span_of_code_ends_where_it_should(text: str) -> None:
    """By the rules of CommonMark: it ends at the first run of as many backticks as it began with."""
    span = code(text)
    fence = re.match("`+", span)
    assert fence is not None
    runs = [run for run in re.findall("`+", span[len(fence[0]) :]) if len(run) == len(fence[0])]
    assert runs == [fence[0]]
    assert span.endswith(fence[0])
    assert not re.search(r"(?<!\\)\|", span)


def test_the_command_of_a_session_is_one_argument_for_a_shell() -> None:
    import shlex

    command = show_command(HOSTILE_SESSION, "L1")
    assert shlex.split(command) == ["dsh-lake", "show", f"{HOSTILE_SESSION}#L1"]
    assert show_command("session-1", "L1") == "dsh-lake show 'session-1#L1'"
    assert show_command(None, "L1") == ""


def test_a_page_without_charts_needs_no_script() -> None:
    assert "<script" not in html(Page("Nothing", []))
    assert markdown(Page("Nothing", [])) == "# Nothing\n\n"
