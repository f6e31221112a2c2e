"""The usage page tells what is in the lake: held against the truth that was counted while the home was
written."""

from __future__ import annotations

import builtins
import io
import re
import stat
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from demo_lake import DemoLake
from dsh_lake.errors import LakeError, MissingExtra, UsageError
from logs import START_MS, assistant, call, event, frame, header, result
from reports.conftest import HostileLake
from reports.pages import ParsedPage


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's zone, which days are of; the truth of the demo home is counted in UTC."""
    monkeypatch.setenv("TZ", "UTC")


def page_of(lake: Path, **more: Any) -> ParsedPage:
    sink = io.BytesIO()
    dsh_lake.report_usage(sink, lake=lake, format="html", **more)
    return ParsedPage(sink.getvalue().decode())


def asked(lake: Path, query: str) -> list[tuple[Any, ...]]:
    with dsh_lake.connect(lake) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def demo_page(demo: DemoLake) -> ParsedPage:
    return page_of(demo.lake)


def test_headline_figures(demo: DemoLake, demo_page: ParsedPage) -> None:
    truth, tokens = demo.truth, demo.truth["tokens"]
    prompt = tokens["input"] + tokens["cache_read"] + tokens["cache_write"]
    expected = {
        "Sessions": f"{truth['sessions']:,}",
        "Tokens": f"{tokens['total']:,}",
        "Cache-read share": f"{100 * tokens['cache_read'] / prompt:.1f} %",
        "Tool error rate": f"{100 * truth['tool_errors'] / truth['tool_calls']:.1f} %",
    }
    assert {label: demo_page.figures[label] for label in expected} == expected
    assert f"{truth['subagent_sessions']} of them sub-agents" in demo_page.text
    assert f"{truth['tool_errors']} of {truth['tool_calls']} tool calls failed" in demo_page.text


def test_charts_and_the_table_of_days_hold_each_day(demo: DemoLake, demo_page: ParsedPage) -> None:
    drawn: dict[str, dict[str, int]] = {}
    for value in demo_page.chart_values["tokens"]:
        drawn.setdefault(value["day"], {})[value["series"].replace(" ", "_")] = value["value"]
    buckets = ("input", "output", "cache_read", "cache_write")
    known = {
        day: {name: tokens[name] for name in buckets} for day, tokens in demo.truth["tokens_by_day"].items()
    }
    assert {day: {"cache_write": 0, **counts} for day, counts in drawn.items()} == known
    table = {row["day"]: row for row in demo_page.table("day", "cache read")}
    assert sorted(table, reverse=True) == list(table)
    assert {day: row["cache read"] for day, row in table.items()} == {
        day: f"{counts['cache_read']:,}" for day, counts in known.items()
    }
    shares = {value["day"]: value["value"] for value in demo_page.chart_values["cache"]}
    assert shares == pytest.approx(
        {
            day: counts["cache_read"] / (counts["input"] + counts["cache_read"] + counts["cache_write"])
            for day, counts in known.items()
        }
    )


def test_costs_are_those_of_the_views(demo: DemoLake, demo_page: ParsedPage) -> None:
    ((cost, currency),) = asked(demo.lake, "select cost, currency from usage_overall")
    assert demo_page.figures["Cost"] == f"{cost:.4f} {currency}"
    drawn = sum(value["value"] for value in demo_page.chart_values["cost"])
    assert drawn == pytest.approx(cost)


def test_the_tables_of_tools_sessions_and_models(demo: DemoLake, demo_page: ParsedPage) -> None:
    tools = {row["tool"]: row for row in demo_page.table("tool", "likely range")}
    assert {
        name: {"calls": int(row["calls"]), "errors": int(row["errors"])} for name, row in tools.items()
    } == demo.truth["tools"]
    # 5 of 46: Wilson's interval worked out by hand is 4.73 to 23.04 %.
    assert tools["bash"]["likely range"] == "4.7 to 23.0 %"
    sessions = demo_page.table("began", "turns")
    shown = {re.findall("'(.*)#L1'", row["to look at it"])[0]: row for row in sessions}
    truth = demo.truth["by_session"]
    assert {name: row["tokens"] for name, row in shown.items() if name in truth} == {
        name: f"{one['tokens']['total']:,}" for name, one in truth.items()
    }
    assert {name: row["errors"] for name, row in shown.items()} == {
        name: str(one["tool_errors"]) for name, one in truth.items()
    }
    models = {row["model"]: row["tokens"] for row in demo_page.table("model", "provider")}
    assert models == {
        model: f"{sum(kind['total'] for kind in kinds.values()):,}"
        for model, kinds in demo.truth["tokens_by_model"].items()
    }


def test_what_could_not_be_read_is_said_first_and_listed(demo: DemoLake, demo_page: ParsedPage) -> None:
    assert demo.truth["torn_tails"] == 1
    assert "1 file could be read only in part" in demo_page.text
    statuses = {row["how they were read"]: row["files"] for row in demo_page.table("lines refused")}
    assert statuses["read in part"] == "1"
    assert {row["code"] for row in demo_page.table("severity")} >= {"torn-tail", "unknown-event"}


def test_every_command_to_look_at_a_session_works(demo: DemoLake, demo_page: ParsedPage) -> None:
    calls = [row["to look at it"] for row in demo_page.table("longest call")]
    headers = [row["to look at it"] for row in demo_page.table("began", "turns")[:3]]
    for command, kind in [*((one, "tool/call") for one in calls), *((one, "session") for one in headers)]:
        ((reference,),) = [re.findall("^dsh-lake show '(.*)'$", command)]
        shown = dsh_lake.show(reference, demo.lake)
        assert shown["type"] == kind
        assert reference.partition("#")[0] in shown["path"]


def test_titles_are_shown_where_asked_for(demo: DemoLake, demo_page: ParsedPage) -> None:
    ((title,),) = asked(demo.lake, "select min(title) from sessions")
    assert title not in demo_page.text
    assert title in page_of(demo.lake, titles=True).text


def test_parts_of_a_period_add_up_to_the_whole(demo: DemoLake, demo_page: ParsedPage) -> None:
    days = sorted(demo.truth["tokens_by_day"])
    middle = days[len(days) // 2]
    parts = [page_of(demo.lake, until=middle), page_of(demo.lake, since=date.fromisoformat(middle))]
    for heading, name in (("tool", "likely range"), ("began", "turns"), ("model", "provider")):
        for column in {"calls", "tool calls", "model calls", "errors", "tokens", "turns"} & set(
            demo_page.table(heading, name)[0]
        ):
            whole, *shares = (
                sum(number(row[column]) for row in page.table(heading, name)) for page in (demo_page, *parts)
            )
            assert sum(shares) == whole > 0
    first_days = [min(value["day"] for value in page.chart_values["tokens"]) for page in parts]
    assert first_days == [days[0], middle]
    assert f"Period: from {middle} to the end" in parts[1].text


def number(cell: str) -> int:
    return int(cell.replace(",", "")) if cell != "\u2013" else 0


def test_a_period_without_sessions_says_so(demo: DemoLake) -> None:
    page = page_of(demo.lake, since="2001-01-01", until="2001-01-02")
    assert "In this period there was no session" in page.text
    assert "What could not be read" in page.text


def test_a_lake_without_sessions_says_so(tmp_path: Path) -> None:
    (tmp_path / "home" / "sessions").mkdir(parents=True)
    dsh_lake.scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1)
    page = page_of(tmp_path / "lake")
    assert "There is no session in this lake" in page.text
    assert page.scripts == []
    sink = io.BytesIO()
    made = dsh_lake.report_usage(sink, lake=tmp_path / "lake", format="markdown")
    assert "There is no session in this lake" in sink.getvalue().decode()
    assert made["sessions"] == 0


def test_a_lake_without_content(demo: DemoLake, tmp_path: Path, demo_page: ParsedPage) -> None:
    dsh_lake.scan(demo.home, lake=tmp_path / "lake", content=False, jobs=1)
    page = page_of(tmp_path / "lake", titles=True)
    assert page.figures == demo_page.figures
    assert "This lake keeps no titles" in page.text


def test_an_earlier_scan(tmp_path: Path) -> None:
    place = tmp_path / "home" / "sessions" / "w" / "s"
    place.mkdir(parents=True)
    log, lake = place / "session.v4.jsonl.zstd", tmp_path / "lake"
    log.write_bytes(frame(header("s"), event("turn/start", 0, {"turn": 1}), assistant(1, 1, 1, 10)))
    first = dsh_lake.scan(tmp_path / "home", lake=lake, jobs=1)["scan_id"]
    with log.open("ab") as file:
        file.write(frame(assistant(2, 1, 2, 5)))
    second = dsh_lake.scan(tmp_path / "home", lake=lake, jobs=1)["scan_id"]
    # Input, twice as much output and three times as much cache read.
    assert page_of(lake, as_of=first).figures["Tokens"] == "60"
    page = page_of(lake)
    assert page.figures["Tokens"] == "90"
    assert second in page.text
    assert first in page_of(lake, as_of=first).text
    assert page.figures["Cost"] == "\u2013"
    assert "What 2 of 2 model calls cost is not known (90 tokens;" in page.text
    assert set(page.chart_values) == {"tokens", "cache"}


def test_days_are_those_of_the_machines_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls are made at 00:53:20 UTC, which is still the day before in New York."""
    place = tmp_path / "home" / "sessions" / "w" / "s"
    place.mkdir(parents=True)
    (place / "session.v4.jsonl.zstd").write_bytes(frame(header("s"), assistant(1, 1, 1, 10)))
    dsh_lake.scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1)
    utc_day = date(1970, 1, 1) + timedelta(milliseconds=START_MS)
    assert START_MS % 86_400_000 < 4 * 3_600_000
    for zone, day in (("UTC", utc_day), ("America/New_York", utc_day - timedelta(days=1))):
        monkeypatch.setenv("TZ", zone)
        page = page_of(tmp_path / "lake")
        monkeypatch.delenv("TZ")
        assert page_of(tmp_path / "lake", time_zone=zone).chart_values == page.chart_values
        monkeypatch.setenv("TZ", zone)
        assert {value["day"] for value in page.chart_values["tokens"]} == {str(day)}
        assert f"time zone {zone}" in page.text
        (row,) = page_of(tmp_path / "lake", since=day, until=day + timedelta(days=1)).table("began", "turns")
        assert row["began"].startswith(str(day))


def test_a_zone_that_is_none_is_refused(demo: DemoLake) -> None:
    with pytest.raises(UsageError, match="'Mars/Olympus' is no time zone"):
        page_of(demo.lake, time_zone="Mars/Olympus")


def test_many_sessions_and_tools_do_not_make_a_large_page(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for number_of in range(300):
        place = home / "sessions" / "w" / f"s{number_of}"
        place.mkdir(parents=True)
        log = frame(
            header(f"s{number_of}"), call(0, "c", f"tool-{number_of}"), result(1, "c"), assistant(2, 1, 1, 7)
        )
        (place / "session.v4.jsonl.zstd").write_bytes(log)
    dsh_lake.scan(home, lake=tmp_path / "lake", jobs=1)
    sink = io.BytesIO()
    made = dsh_lake.report_usage(sink, lake=tmp_path / "lake", format="html")
    assert (made["sessions"], made["sessions_shown"]) == (300, 100)
    assert made["bytes"] == len(sink.getvalue()) < 2_000_000
    page = ParsedPage(sink.getvalue().decode())
    assert page.figures["Sessions"] == "300"
    assert page.figures["Tokens"] == "12,600"
    assert "The newest 100 of 300 sessions" in page.text
    assert "dsh-lake sessions --limit 0" in page.text
    assert "260 more are shown by" in page.text


# -- where it goes -----------------------------------------------------------------------------------------


def test_the_file_is_private_and_its_name_says_the_format(demo: DemoLake, tmp_path: Path) -> None:
    known = (("a.html", "<!DOCTYPE html>", "html"), ("a.md", "# Agent usage", "markdown"))
    for name, beginning, format in known:
        made = dsh_lake.report_usage(tmp_path / name, lake=demo.lake)
        assert (tmp_path / name).read_text("utf-8").startswith(beginning)
        assert (made["format"], made["bytes"]) == (format, (tmp_path / name).stat().st_size)
        assert made["is_partial"]
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_what_makes_no_sense_is_refused(demo: DemoLake, tmp_path: Path) -> None:
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (tmp_path / "a.pdf", {}, "says no format"),
        (io.BytesIO(), {}, "not html or markdown"),
        (tmp_path / "a.html", {"since": "yesterday"}, "is no day"),
        (tmp_path / "a.html", {"since": "2026-02-01", "until": "2026-02-01"}, "no days"),
        (demo.lake / "a.md", {}, "lies in the lake"),
    ]
    for output, more, message in refused:
        with pytest.raises(UsageError, match=message):
            dsh_lake.report_usage(output, lake=demo.lake, **more)
    with pytest.raises(LakeError):
        dsh_lake.report_usage(tmp_path / "a.md", lake=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["altair", "jinja2", "vl_convert"])
def test_without_the_extra_html_says_so_and_markdown_is_written(
    hostile: HostileLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    from dsh_lake.reports import charts

    importing = builtins.__import__

    def refuse(name: str, *arguments: Any) -> Any:
        if name.partition(".")[0] == missing:
            raise ImportError(name)
        return importing(name, *arguments)

    charts._altair.cache_clear()
    charts.library.cache_clear()
    monkeypatch.delitem(sys.modules, missing, raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[report\]'"):
        dsh_lake.report_usage(tmp_path / "a.html", lake=hostile.lake)
    dsh_lake.report_usage(tmp_path / "a.md", lake=hostile.lake)
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
