"""Totals of a lake against somebody else's, with gaps worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from dsh_lake.errors import UnreadableSource, UsageError
from dsh_lake.reconcile import KINDS
from logs import assistant, event, frame, header, log_path, usage, user

DAY = "2026-11-30"
"""The day on which made logs begin, at 00:53:20 UTC."""


def spent(seq: int, kind: str, tokens: int) -> bytes:
    """An attempt, or a compaction, of model m with usage(tokens)."""
    source = {"kind": "model", "provider": "p", "model": "m"}
    data: dict[str, Any] = {"turn": 1, "step": 2, "usage": usage(tokens), "source": source}
    return event(kind, seq, {**data, "provider": "p", "model": "m"})


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One session: an answer of 100 input, 200 output and 300 cached tokens, an attempt of 10, 20, 30 and a
    compaction of 1, 2, 3; and the call for its title."""
    folder = tmp_path_factory.mktemp("lake")
    route = {"route": {"provider": "p", "model": "m"}}
    lines = [
        header("one"),
        event("turn/start", 0, {"turn": 1}),
        user(1, "hello"),
        assistant(2, 1, 1, 100),
        spent(3, "assistant/attempt", 10),
        spent(4, "compaction/summary", 1),
        event("session/title-llm-request", 5, route),
        event("turn/end", 6, {"turn": 1, "reason": {"kind": "completed"}}),
    ]
    log_path(folder / "home", "one").write_bytes(frame(*lines))
    dsh_lake.scan(folder / "home", lake=folder / "lake", jobs=1)
    return folder / "lake"


def against(lake: Path, folder: Path, text: str, **more: Any) -> dict[str, Any]:
    path = folder / "usage.csv"
    path.write_text(text, "utf-8")
    return dsh_lake.reconcile(path, lake=lake, **more)


def gaps(result: dict[str, Any]) -> dict[str, dict[str, int]]:
    """The parts of the gap of each measure that are not zero."""
    for row in result["rows"]:
        assert row["gap"] == row["theirs"] - row["ours"]
        if row["measure"] != "cost":
            assert row["gap"] == sum(row[kind] for kind in KINDS) + row["unexplained"]
    parts = (*KINDS, "unexplained")
    return {row["measure"]: {part: row[part] for part in parts if row[part]} for row in result["rows"]}


HEAD = "Date,Model,Cache miss,Cache hit,Output\n"


@pytest.mark.parametrize(
    ("figures", "expected", "is_ok"),
    [
        # All that was billed: answers, the attempt, the compaction.
        ("111,333,222", {"input": {}, "cache_read": {}, "output": {}}, True),
        # The provider does not bill what was thrown away.
        (
            "101,303,202",
            {m: {"attempts": -n} for m, n in (("input", 10), ("cache_read", 30), ("output", 20))},
            True,
        ),
        (
            "110,330,220",
            {m: {"compaction": -n} for m, n in (("input", 1), ("cache_read", 3), ("output", 2))},
            True,
        ),
        (
            "100,300,200",
            {
                "input": {"attempts": -10, "compaction": -1},
                "cache_read": {"attempts": -30, "compaction": -3},
                "output": {"attempts": -20, "compaction": -2},
            },
            True,
        ),
        # The title's call took something that no log states.
        ("131,333,229", {"input": {"unreported": 20}, "cache_read": {}, "output": {"unreported": 7}}, True),
        # Less than was answered: nothing explains that.
        ("90,333,222", {"input": {"unexplained": -21}, "cache_read": {}, "output": {}}, False),
        # More than one call can have.
        ("2000111,333,222", {"input": {"unexplained": 2_000_000}, "cache_read": {}, "output": {}}, False),
    ],
)
def test_a_gap_is_divided_into_what_one_side_alone_counts(
    figures: str, expected: dict[str, dict[str, int]], is_ok: bool, lake: Path, tmp_path: Path
) -> None:
    result = against(lake, tmp_path, f"{HEAD}{DAY},m,{figures}\n")
    assert gaps(result) == expected
    assert result["ok"] is is_ok
    assert {row["unreported_calls"] for row in result["rows"]} == {1}


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        # An input beside cache misses is the whole prompt, and so is one that the total says so of.
        (
            f"day,model,input,cache miss,output\n{DAY},m,444,111,222",
            {"prompt": 444, "input": 111, "output": 222},
        ),
        (
            f"day,model,input,cache_read,output,total\n{DAY},m,444,333,222,666",
            {"prompt": 444, "cache_read": 333, "output": 222, "total": 666},
        ),
        # Otherwise it is what was not read from the cache.
        (
            f"day,model,input,cache_read,output,total\n{DAY},m,111,333,222,666",
            {"input": 111, "cache_read": 333, "output": 222, "total": 666},
        ),
        (f"day,model,input,output\n{DAY},m,444,222", {"prompt": 444, "output": 222}),
        (f"DAY , Total Tokens\n{DAY.replace('-', '/')},666", {"total": 666}),
        (f'utc_date,model,prompt_tokens,note\n{DAY},m,"400",x\n{DAY},m,44,y', {"prompt": 444}),
    ],
)
def test_columns_are_taken_for_what_their_names_say(
    text: str, measures: dict[str, int], lake: Path, tmp_path: Path
) -> None:
    result = against(lake, tmp_path, text + "\n")
    assert {row["measure"]: row["theirs"] for row in result["rows"]} == measures
    assert {row["measure"]: row["ours"] for row in result["rows"]} == measures
    assert result["ok"]
    assert result["ignored_columns"] == (["note"] if "note" in text else [])


def test_days_begin_where_the_time_zone_says(lake: Path, tmp_path: Path) -> None:
    text = f"{HEAD}2026-11-29,m,111,333,222\n"
    assert against(lake, tmp_path, text, time_zone="America/New_York")["ok"]
    in_utc = against(lake, tmp_path, text)
    assert not in_utc["ok"]
    assert in_utc["left_out"] == [
        {"what": "days of a model", "count": 1, "reason": "the day is not in the export"}
    ]
    with pytest.raises(UsageError, match="no time zone"):
        against(lake, tmp_path, text, time_zone="Mars/Olympus")


def test_a_model_that_the_export_does_not_know_is_told(lake: Path, tmp_path: Path) -> None:
    result = against(lake, tmp_path, f"{HEAD}{DAY},other,0,0,0\n")
    assert result["ok"]
    assert [one["reason"] for one in result["left_out"]] == ["the export does not name the model m"]


def test_a_day_within_the_export_that_it_does_not_list_had_no_use(lake: Path, tmp_path: Path) -> None:
    result = against(lake, tmp_path, f"{HEAD}2026-11-29,m,0,0,0\n2026-12-01,m,0,0,0\n")
    (missing,) = (row for row in result["rows"] if row["day"] == DAY and row["measure"] == "input")
    assert (missing["theirs"], missing["unexplained"], result["ok"]) == (0, -111, False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "nothing in it"),
        ("a,b\n1,2\n", "date or day"),
        ("day,input,input tokens\n", "same meaning"),
        (f"day,output\n{DAY},x\n", "line 2: output is 'x'"),
        (f"day,output\n{DAY},-1\n", "line 2: output is '-1'"),
        (f"day,output\n{DAY},1.5\n", "line 2: output is '1.5'"),
        ("day,output\n2026-02-30,1\n", "line 2: '2026-02-30' is no day"),
        (f"day,output\n{DAY}\n", "line 2 has 1 values"),
    ],
)
def test_what_is_no_export_is_refused(text: str, reason: str, lake: Path, tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match=reason):
        against(lake, tmp_path, text)


# -- DSH's own figures -------------------------------------------------------------------------------------


def cache(home: Path, session: str, seq: int, *tokens: int) -> None:
    """What DSH keeps of a session; tokens are input, output, cache read and cache write."""
    names = ("uncachedInputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    totals = dict(zip(names, tokens, strict=True))
    rows = {"tokenUsage": {"ver": 1, "seq": seq, "val": {"totals": totals}}}
    path = home / "storages" / "session_projcache" / "sessions" / f"{session}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"record": {"rows": rows}}), "utf-8")


@pytest.mark.parametrize(
    ("seq", "tokens", "parts", "is_ok"),
    [
        # DSH counts no compactions: 100 + 10 of input.
        (
            6,
            (110, 220, 330, 0),
            {
                "input": {"compaction": -1},
                "output": {"compaction": -2},
                "cache_read": {"compaction": -3},
                "cache_write": {},
            },
            True,
        ),
        # The cache ends before the attempt.
        (
            2,
            (100, 200, 300, 0),
            {
                "input": {"compaction": -1, "stale": -10},
                "output": {"compaction": -2, "stale": -20},
                "cache_read": {"compaction": -3, "stale": -30},
                "cache_write": {},
            },
            True,
        ),
        # It has seen more of the session than the scan.
        (
            9,
            (115, 220, 330, 0),
            {
                "input": {"compaction": -1, "stale": 5},
                "output": {"compaction": -2},
                "cache_read": {"compaction": -3},
                "cache_write": {},
            },
            True,
        ),
        (
            6,
            (115, 220, 330, 0),
            {
                "input": {"compaction": -1, "unexplained": 5},
                "output": {"compaction": -2},
                "cache_read": {"compaction": -3},
                "cache_write": {},
            },
            False,
        ),
    ],
)
def test_a_session_against_what_dsh_keeps_of_it(
    seq: int, tokens: tuple[int, ...], parts: dict[str, Any], is_ok: bool, lake: Path, tmp_path: Path
) -> None:
    cache(tmp_path, "one", seq, *tokens)
    cache(tmp_path, "unknown", 0, 1, 1, 1, 1)
    (tmp_path / "storages" / "session_projcache" / "sessions" / "broken.json").write_text("{")
    result = dsh_lake.reconcile(tmp_path, lake=lake)
    assert (result["against"], result["ok"]) == ("projection", is_ok)
    assert gaps(result) == parts
    assert {(row["day"], row["model"], row["session_id"]) for row in result["rows"]} == {(DAY, "m", "one")}
    assert result["left_out"] == [
        {"what": "cache files", "count": 2, "reason": "its session is not in the lake"}
    ]


def test_a_folder_without_figures_is_refused(lake: Path, tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="no figures of DSH"):
        dsh_lake.reconcile(tmp_path, lake=lake)


def test_every_gap_of_every_recorded_home_is_explained(shared: Path, tmp_path: Path) -> None:
    caches = sorted((shared / "corpus" / "sessions").rglob("session_projcache/sessions"))
    homes = [path.parents[2] for path in caches]
    assert len(homes) >= 20
    lake, compared = tmp_path / "lake", 0
    dsh_lake.scan(homes, lake=lake, jobs=1, content=False)
    for home in homes:
        result = dsh_lake.reconcile(home, lake=lake)
        assert (result["ok"], [one for one in result["left_out"] if "not in the lake" in one["reason"]]) == (
            True,
            [],
        )
        compared += len({row["session_id"] for row in result["rows"]})
    assert compared >= 200
