"""The page about drift, and since when something differs."""

from __future__ import annotations

import json

import pytest

from dsh_lake.cli.exits import run as run_here
from dsh_lake.drift.history import Night, read_nights, since
from dsh_lake.drift.verdict import fixtures_drift
from dsh_lake.errors import UnreadableSource, UsageError
from dsh_lake.reports.drift import report_drift
from tests.fixtures_kit.drifting import JOB, events, log, put_fixture, put_run

SAME = log(events())
CHANGED = SAME.replace("all done", "private <b>words</b>")
NOISY = SAME.replace(JOB, "bash-0123456789abcdef")
DIFFERENCE = ("session/other", "session 0", "text-changed")


@pytest.fixture
def sides(tmp_path):
    """Fixtures and runs of three scenarios: one equal, one noisy, one changed."""
    for name, text in {"equal": SAME, "noisy": NOISY, "other": CHANGED}.items():
        put_fixture(tmp_path / "tree/session" / name, [SAME])
        put_run(tmp_path / "runs" / name, [text], scenario=name)
    return tmp_path / "tree", tmp_path / "runs"


def test_what_changed_stands_apart_from_noise_and_shows_no_text(sides):
    text, drift = report_drift(*sides)
    assert drift.exit_code == 2
    changed, noise = text.index("## What changed"), text.index("## Noise")
    assert changed < text.index("| `session/other` | `other` | session 0 | 22 | `text-changed` |") < noise
    assert text.index("| `session/noisy` | `noisy` | session 0 | 9 | `job-ids` |") > noise
    assert "| Changed | 1 |" in text and "| Noise alone | 1 |" in text and "| Equal | 1 |" in text
    assert "private" not in text


def test_texts_that_were_asked_for_are_escaped(sides):
    pytest.importorskip("jinja2", reason="pages need the extra `report`")
    text = report_drift(*sides, format="html", with_text=True).text
    assert "private" in text
    assert "<b>words" not in text
    assert "private" not in report_drift(*sides, format="html").text
    with pytest.raises(UsageError):
        report_drift(*sides, format="pdf")


@pytest.mark.parametrize(
    ("differed", "began"),
    [("", None), ("yyy", "1"), ("ynyy", "3"), ("yyyn", None), ("nnny", "4")],
    ids=["no nights", "always", "again", "mended", "last night"],
)
def test_a_difference_began_after_the_last_night_without_it(differed, began):
    found = {"y": frozenset([DIFFERENCE]), "n": frozenset([("session/other", "session 0", "job-ids")])}
    nights = [Night(str(number), found[letter]) for number, letter in enumerate(differed, start=1)]
    assert since(DIFFERENCE, nights) == began


def test_earlier_results_are_read_from_a_folder(sides, tmp_path):
    nights = tmp_path / "nights"
    nights.mkdir()
    (nights / "2026-11-29.json").write_text(json.dumps(fixtures_drift(*sides).document()), "utf-8")
    assert [night.name for night in read_nights(nights)] == ["2026-11-29"]
    text = report_drift(*sides, earlier=nights).text
    assert "| `text-changed` |  | 2026-11-29 |" in text
    (nights / "2026-11-29.json").write_text(
        json.dumps(fixtures_drift(sides[0], sides[0]).document()), "utf-8"
    )
    assert "| `text-changed` |  | new |" in report_drift(*sides, earlier=nights).text
    (nights / "2026-11-30.json").write_text('{"scenarios": 1}', "utf-8")
    with pytest.raises(UnreadableSource):
        read_nights(nights)
    with pytest.raises(UnreadableSource):
        read_nights(tmp_path / "nowhere")


def test_the_command_ends_as_the_comparison_does(sides, tmp_path, capsysbinary):
    tree, runs = map(str, sides)
    assert run_here(["report", "drift", tree, runs]) == 2
    assert capsysbinary.readouterr().out.decode().startswith("# Fixture drift\n")
    assert run_here(["report", "drift", tree, tree, "--markdown", str(tmp_path / "page.md")]) == 0
    assert "Nothing differs." in (tmp_path / "page.md").read_text("utf-8")
    assert run_here(["report", "drift", tree, runs, "--markdown", "a", "--html", "b"]) == 1
    (tmp_path / "none").mkdir()
    capsysbinary.readouterr()
    assert run_here(["report", "drift", tree, str(tmp_path / "none")]) == 1
    assert "nothing was compared" in capsysbinary.readouterr().err.decode()
