"""``dsh-lake baseline``: what people read, as golden files of the demo home, exit codes and formats."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.runs import GOLDEN, Cli, Run
from demo_lake import DemoLake


@pytest.fixture
def run(cli: Cli, demo: DemoLake) -> Iterator[Cli]:
    """The command on the demo lake, days in UTC; what it saved is removed again."""

    def invoke(*arguments: str | Path) -> Run:
        return cli("baseline", "--lake", demo.lake, "--time-zone", "UTC", *arguments)

    yield invoke
    shutil.rmtree(demo.lake / "baselines", ignore_errors=True)


def check(name: str, text: str) -> None:
    assert re.sub(r"saved 20[^:]*:..:..Z", "saved SOME DAY", text) == (GOLDEN / name).read_text("utf-8")


def test_the_whole_and_the_tools(run: Cli, demo: DemoLake) -> None:
    shown = run("--by", "tool")
    assert (shown.code, shown.stderr) == (0, "")
    check("baseline.txt", shown.text)
    truth = demo.truth
    for name, tool in truth["tools"].items():
        assert re.search(rf"^{name} +\d+ +{tool['calls']} +{tool['errors']} ", shown.text, re.M)
    assert re.search(rf"^tool calls +{truth['tool_calls']} +{truth['tool_errors']} failed", shown.text, re.M)
    assert re.search(rf"^all tokens +{truth['tokens']['total']:,} ", shown.text, re.M)


def test_a_comparison_in_which_nothing_moved(run: Cli) -> None:
    saved = run("--until", "2026-11-20", "--save", "before")
    assert saved.code == 0
    assert saved.stderr == "saved as before: `dsh-lake baseline --compare before` says what moved since\n"
    compared = run("--compare", "before")
    assert (compared.code, compared.stderr) == (0, "")
    check("baseline_compare.txt", compared.text)


def test_what_is_not_alike_is_said(run: Cli) -> None:
    run("--until", "2026-11-20", "--save", "before", "--quiet")
    shown = run("--compare", "before", "--model", "deepseek-v4-pro", "--since", "2026-11-10").text
    assert "\nnot alike: that was of the model (all)\n" in shown
    assert "\nnot apart: this period begins before that one, up to 2026-11-20T00:00:00Z, has ended\n" in shown


def test_what_moved_is_a_finding_in_every_format(run: Cli, demo: DemoLake) -> None:
    run("--until", "2026-11-20", "--save", "before", "--quiet")
    path = demo.lake / "baselines" / "before.json"
    saved = json.loads(path.read_text("utf-8"))
    for day in saved["days"]:
        day["total_tokens"] = 1
    path.write_text(json.dumps(saved))
    shown = run("--compare", "before")
    assert shown.code == 2
    assert re.search(r"^total_tokens +1 +65,085 +\+65,084 +1 to 1 +moved$", shown.text, re.M)
    assert shown.text.endswith("1 measure moved\n")
    rows = run("--compare", "before", "--format", "csv")
    assert rows.code == 2
    (moved,) = [row for row in csv.DictReader(io.StringIO(rows.text)) if row["verdict"] == "moved"]
    assert (moved["measure"], float(moved["then"]), float(moved["now"])) == ("total_tokens", 1, 65_085)


def test_json_is_one_object(run: Cli, demo: DemoLake) -> None:
    result = json.loads(run("--format", "json", "--since", "2026-11-12", "--by", "day").stdout)
    assert result["since"] == "2026-11-12T00:00:00Z"
    days = [day for day in demo.truth["tokens_by_day"] if day >= "2026-11-12"]
    assert [group["day"] for group in result["groups"]] == days
    assert result["comparison"] is None


@pytest.mark.parametrize(
    "arguments", [("--by", "month"), ("--since", "soon"), ("--compare", "never"), ("--format", "parquet")]
)
def test_what_makes_no_sense_is_a_usage_error(arguments: tuple[str, ...], run: Cli) -> None:
    refused = run(*arguments)
    assert (refused.code, refused.stdout) == (1, b"")
    assert refused.stderr.startswith("error: ")
