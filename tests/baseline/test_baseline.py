"""What is measured, against the truth of the demo home and against figures known beforehand."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from demo_lake import DemoLake
from dsh_lake import saved_baselines
from dsh_lake.baseline import GRAINS, baseline_rows
from dsh_lake.errors import LakeError, NotALake, UsageError
from logs import assistant, call, event, frame, header, log_path, result

SUMMED = ("tool_calls", "tool_errors", "tool_interrupted")
NOT_OF_TOOLS = (
    "turns",
    "turns_failed",
    "human_messages",
    "retries",
    "attempts",
    "billed_calls",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "total_tokens",
)


def measured(demo: DemoLake, **options: Any) -> dict[str, Any]:
    return dsh_lake.baseline(demo.lake, **{"time_zone": "UTC", **options})


@pytest.fixture(scope="module")
def all_grains(demo: DemoLake) -> dict[str, dict[str, Any]]:
    return {by: measured(demo, by=by) for by in GRAINS}


@pytest.fixture
def lake(demo: DemoLake) -> Iterator[Path]:
    """The lake to save in; a copy of it would take longer to open than all else here."""
    yield demo.lake
    shutil.rmtree(demo.lake / "baselines", ignore_errors=True)


# -- what is measured --------------------------------------------------------------------------------------


def test_the_whole_is_what_was_counted_when_the_home_was_written(
    all_grains: dict[str, dict[str, Any]], demo: DemoLake
) -> None:
    overall, truth = all_grains["day"]["overall"], demo.truth
    for name in ("sessions", "subagent_sessions", "human_messages", *SUMMED):
        assert overall[name] == truth[name], name
    for bucket, tokens in truth["tokens"].items():
        assert overall[f"{bucket}_tokens"] == tokens
    # Three sessions in which one request failed and was made again.
    assert (overall["retries"], overall["attempts"]) == (3, 3)
    prompt = sum(truth["tokens"][bucket] for bucket in ("input", "cache_read", "cache_write"))
    assert overall["cache_read_share"] == pytest.approx(truth["tokens"]["cache_read"] / prompt)
    assert overall["tool_error_rate"] == pytest.approx(truth["tool_errors"] / truth["tool_calls"])


def test_groups_add_up_to_the_whole(all_grains: dict[str, dict[str, Any]]) -> None:
    for by, found in all_grains.items():
        for name in SUMMED if by == "tool" else (*SUMMED, *NOT_OF_TOOLS):
            total = sum(group[name] or 0 for group in found["groups"])
            assert total == found["overall"][name], (by, name)
        assert found["overall"] == all_grains["day"]["overall"]


def test_groups_are_what_was_counted(all_grains: dict[str, dict[str, Any]], demo: DemoLake) -> None:
    days = {group["day"]: group for group in all_grains["day"]["groups"]}
    for day, tokens in demo.truth["tokens_by_day"].items():
        assert days[day]["total_tokens"] == tokens["total"]
        assert days[day]["cache_read_tokens"] == tokens["cache_read"]
    tools = {group["tool"]: group for group in all_grains["tool"]["groups"]}
    for name, counts in demo.truth["tools"].items():
        assert (tools[name]["tool_calls"], tools[name]["tool_errors"]) == (counts["calls"], counts["errors"])
    assert {group[name] for group in tools.values() for name in NOT_OF_TOOLS} == {None}
    models = {group["model"]: group for group in all_grains["model"]["groups"]}
    for model, kinds in demo.truth["tokens_by_model"].items():
        assert models[model]["total_tokens"] == sum(kind["total"] for kind in kinds.values())
    sessions = {group["session"]: group for group in all_grains["session"]["groups"]}
    assert len(sessions) == demo.truth["sessions"]
    for session, counts in demo.truth["by_session"].items():
        assert sessions[session]["tool_calls"] == counts.get("tool_calls", 0)
        assert (sessions[session]["total_tokens"] or 0) == counts["tokens"]["total"]


def test_a_period_is_a_part_of_the_days(all_grains: dict[str, dict[str, Any]], demo: DemoLake) -> None:
    """The share is that of the days' tokens; it was computed from rows, not from the whole."""
    found = measured(demo, since="2026-11-12", until=date(2026, 11, 20))
    truth = [
        tokens for day, tokens in demo.truth["tokens_by_day"].items() if "2026-11-12" <= day < "2026-11-20"
    ]
    sums = {bucket: sum(tokens[bucket] for tokens in truth) for bucket in truth[0]}
    overall = found["overall"]
    assert overall["total_tokens"] == sums["total"]
    prompt = sums["input"] + sums["cache_read"] + sums["cache_write"]
    assert overall["cache_read_share"] == pytest.approx(sums["cache_read"] / prompt)
    assert (found["since"], found["until"]) == ("2026-11-12T00:00:00Z", "2026-11-20T00:00:00Z")
    inside = [group for group in all_grains["day"]["groups"] if "2026-11-12" <= group["day"] < "2026-11-20"]
    assert overall["tool_calls"] == sum(group["tool_calls"] for group in inside)


def test_a_day_begins_where_the_reader_lives(demo: DemoLake) -> None:
    since = {
        zone: measured(demo, since="2026-11-12", time_zone=zone)["since"]
        for zone in ("Asia/Shanghai", "America/New_York")
    }
    assert since == {"Asia/Shanghai": "2026-11-11T16:00:00Z", "America/New_York": "2026-11-12T05:00:00Z"}
    # A time without an offset is a local one, one with an offset says where it is.
    spoken = [
        datetime(2026, 11, 12, 8),
        "2026-11-12T00:00:00Z",
        datetime(2026, 11, 11, 19, tzinfo=timezone(timedelta(hours=-5))),
    ]
    assert {measured(demo, since=when, time_zone="Asia/Shanghai")["since"] for when in spoken} == {
        "2026-11-12T00:00:00Z"
    }


def test_one_workspace_by_any_of_its_names(demo: DemoLake) -> None:
    names = ("--home-dev-projects-atlas--", "home-dev-projects-atlas", "/home/dev/projects/atlas")
    found = [measured(demo, workspace=name) for name in names]
    assert {one["workspace"] for one in found} == {names[0]}
    of_it = [one for one in demo.truth["by_session"].values() if one["workspace"] == names[0]]
    for one in found:
        assert one["overall"]["sessions"] == len(of_it)
        assert one["overall"]["total_tokens"] == sum(session["tokens"]["total"] for session in of_it)


def test_the_figures_of_the_first_report(tmp_path: Path) -> None:
    """16 of 220 calls are 7.3 %; 6,447,872 of 421,174 + 6,447,872 prompt tokens are 93.9 %."""
    reply = json.loads(assistant(2, 1, 1, None))
    reply["data"]["usage"] = {
        "inputTokens": 421_174,
        "outputTokens": 9,
        "cacheReadTokens": 6_447_872,
        "totalTokens": 6_869_055,
    }
    lines = [
        header("one"),
        event("turn/start", 0, {"turn": 1}),
        event("step/start", 1, {"turn": 1, "step": 1}),
        event("assistant/message", 2, reply["data"], surfaceOp="append"),
    ]
    for number in range(220):
        lines.append(call(3 + 2 * number, f"c{number}"))
        lines.append(result(4 + 2 * number, f"c{number}", is_error=number < 16))
    log_path(tmp_path / "home", "one").write_bytes(frame(*lines))
    dsh_lake.scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1)
    overall = dsh_lake.baseline(tmp_path / "lake")["overall"]
    assert (overall["tool_calls"], overall["tool_errors"]) == (220, 16)
    assert f"{overall['tool_error_rate']:.1%}" == "7.3%"
    assert f"{overall['cache_read_share']:.1%}" == "93.9%"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "month"}, "not one of day, week"),
        ({"since": "last week"}, "no day like"),
        ({"until": "2026-02-30"}, "no day like"),
        ({"since": "2026-11-20", "until": "2026-11-20"}, "nothing lies between"),
        ({"time_zone": "Mars/Olympus"}, "time zone"),
        ({"time_zone": "Mars/Olympus", "since": "2026-11-20"}, "time zone"),
        ({"model": "gpt"}, "is not in this lake, which has: deepseek-flash, "),
        ({"workspace": "atlas"}, "is not in this lake, which has: --home-dev-field~0020notes--, "),
        ({"save": "../up"}, "no name for a baseline"),
        ({"compare": "a/b"}, "no name for a baseline"),
        ({"save": "NUL"}, "device"),
        ({"save": "com1.before"}, "device"),
        ({"compare": "never"}, "saved are: none"),
    ],
)
def test_what_makes_no_sense_is_said(options: dict[str, str], message: str, demo: DemoLake) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        measured(demo, **options)
    assert len(str(raised.value).splitlines()) == 1


def test_there_has_to_be_a_lake(tmp_path: Path) -> None:
    with pytest.raises(NotALake):
        dsh_lake.baseline(tmp_path / "none", save="x")
    assert not (tmp_path / "none").exists()


# -- saved and compared ------------------------------------------------------------------------------------


def test_what_is_saved_is_the_result_and_its_days(lake: Path) -> None:
    found = dsh_lake.baseline(lake, until="2026-11-20", time_zone="UTC", save="first.half")
    path = lake / "baselines" / "first.half.json"
    saved = json.loads(path.read_text("utf-8"))
    assert {name: saved[name] for name in found if name != "comparison"} == {
        name: value for name, value in found.items() if name != "comparison"
    }
    assert (saved["name"], saved["version"]) == ("first.half", 1)
    assert datetime.fromisoformat(saved["saved_at"]) <= datetime.now(UTC)
    # The demo home works on no weekend before the 20th: the 14th to the 16th have no rows.
    assert [day["day"][-2:] for day in saved["days"]] == ["09", "10", "11", "12", "13", "17", "18", "19"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_without_a_period_what_came_after_is_compared(lake: Path) -> None:
    dsh_lake.baseline(lake, until="2026-11-20", time_zone="UTC", save="before", model="deepseek-v4-flash")
    found = dsh_lake.baseline(lake, compare="before")
    assert (found["since"], found["until"]) == ("2026-11-20T00:00:00Z", None)
    assert (found["model"], found["time_zone"]) == ("deepseek-v4-flash", "UTC")
    comparison = found["comparison"]
    assert (comparison["name"], comparison["until"]) == ("before", "2026-11-20T00:00:00Z")
    rates = [one for one in comparison["measures"] if one["method"] == "intervals"]
    assert [one["measure"] for one in rates] == ["tool_error_rate", "turn_error_rate"]
    assert comparison["moved"] == sum(one["verdict"] == "moved" for one in comparison["measures"])


def test_a_period_is_compared_with_itself_and_has_not_moved(lake: Path) -> None:
    dsh_lake.baseline(lake, time_zone="UTC", save="all")
    comparison = dsh_lake.baseline(lake, compare="all", since="2026-11-01")["comparison"]
    assert comparison["moved"] == 0
    assert {one["change"] for one in comparison["measures"]} == {0}
    assert comparison["days"] == {"then": 18, "now": 18}


def test_what_is_not_alike_is_named(lake: Path) -> None:
    dsh_lake.baseline(lake, until="2026-11-20", time_zone="UTC", save="before")
    alike = dsh_lake.baseline(lake, compare="before")["comparison"]
    assert (alike["unlike"], alike["covered_until"]) == ([], "2026-11-20T00:00:00Z")
    other = dsh_lake.baseline(
        lake, compare="before", model="deepseek-v4-pro", time_zone="Asia/Tokyo", since="2026-11-10"
    )["comparison"]
    assert other["unlike"] == ["model", "time_zone", "period"]


def test_after_all_that_was_saved_there_is_nothing_yet(lake: Path) -> None:
    """The end of what was saved is just after its last event, so that nothing is counted on both sides."""
    dsh_lake.baseline(lake, time_zone="UTC", save="all")
    found = dsh_lake.baseline(lake, compare="all")
    assert found["overall"]["sessions"] == found["overall"]["billed_calls"] == 0
    assert {one["verdict"] for one in found["comparison"]["measures"]} == {"too few"}


def test_days_that_are_not_whole_are_left_out(lake: Path) -> None:
    options = {"since": "2026-11-10T00:00:01", "until": "2026-11-13T12:00:00", "time_zone": "UTC"}
    dsh_lake.baseline(lake, save="part", **options)  # type: ignore[arg-type]
    saved = json.loads((lake / "baselines" / "part.json").read_text("utf-8"))
    assert [day["day"] for day in saved["days"]] == ["2026-11-11", "2026-11-12"]


def test_a_name_is_saved_again_in_its_own_place(lake: Path) -> None:
    """Compared with the one before, then kept: what a nightly run does."""
    dsh_lake.baseline(lake, until="2026-11-20", time_zone="UTC", save="last")
    found = dsh_lake.baseline(lake, compare="last", save="last")
    assert found["comparison"]["until"] == "2026-11-20T00:00:00Z"
    again = dsh_lake.baseline(lake, compare="last")
    assert again["since"] == found["covered_until"]


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 99}'])
def test_a_file_that_is_no_baseline_is_refused(text: str, lake: Path) -> None:
    (lake / "baselines").mkdir()
    (lake / "baselines" / "broken.json").write_text(text)
    with pytest.raises(LakeError, match=r"broken\.json"):
        dsh_lake.baseline(lake, compare="broken")


def test_a_scan_leaves_saved_baselines_alone(demo: DemoLake, lake: Path) -> None:
    dsh_lake.baseline(lake, time_zone="UTC", save="kept")
    dsh_lake.scan(demo.home, lake=lake, jobs=1, full=True)
    assert dsh_lake.baseline(lake, compare="kept", since="2026-11-01")["comparison"]["moved"] == 0


# -- rows --------------------------------------------------------------------------------------------------


def test_rows_are_of_what_was_asked_for(demo: DemoLake, lake: Path) -> None:
    groups = measured(demo, by="tool")
    table = baseline_rows(groups).read_all()
    assert table.column_names[0] == "tool"
    assert table.to_pylist() == groups["groups"]
    whole = measured(demo)
    assert baseline_rows(whole).read_all().to_pylist() == [whole["overall"]]
    empty = measured(demo, by="day", until="2020-01-01")
    assert baseline_rows(empty).read_all().schema == baseline_rows(measured(demo, by="day")).schema
    dsh_lake.baseline(lake, time_zone="UTC", save="x")
    compared = dsh_lake.baseline(lake, compare="x", since="2026-11-01")
    assert baseline_rows(compared).read_all().to_pylist() == compared["comparison"]["measures"]


def test_names_that_a_file_system_takes_for_one_do_not_replace_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_baselines.save(tmp_path, "Before", {})
    saved_baselines.save(tmp_path, "Before", {})
    monkeypatch.setattr(Path, "exists", lambda path: path.name.lower() == "before.json")
    with pytest.raises(UsageError, match="place of the baseline 'Before'"):
        saved_baselines.save(tmp_path, "before", {})
    assert saved_baselines.names(tmp_path) == ["Before"]
