"""``dsh-lake export`` and ``reconcile``: what they print and how they end."""

from __future__ import annotations

import json
from pathlib import Path

from cli.runs import GOLDEN, Cli
from demo_lake import DemoLake
from dsh_lake.cli.reconcile_text import reconcile_text
from dsh_lake.reconcile import KINDS


def test_rows_to_stdout_and_to_a_file(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    run = cli("export", "usage_by_kind", "--lake", demo.lake)
    assert (run.code, run.stderr) == (0, "")
    header, *rows = run.text.splitlines()
    assert header.startswith('"kind","calls","input_tokens",')
    by_kind = {row.split(",")[0].strip('"'): row.split(",") for row in rows}
    for kind, tokens in demo.truth["tokens_by_kind"].items():
        assert by_kind[kind][2] == str(tokens["input"])
    assert cli("export", "usage_by_kind", "--lake", demo.lake, "-o", "-").stdout == run.stdout
    target = tmp_path / "kinds.csv"
    to_file = cli("export", "usage_by_kind", "--lake", demo.lake, "-o", target)
    assert (to_file.code, to_file.stdout) == (0, b"")
    assert to_file.stderr == f"{len(rows)} rows in {target}\n"
    assert target.read_bytes() == run.stdout


def test_what_cannot_be_exported(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    for arguments, message in (
        (["nothing"], "no table or view is called 'nothing'"),
        ([], "say what to export"),
        (["usage", "--format", "parquet"], "--format parquet writes a file"),
        (["--metadata-only"], "--metadata-only writes a folder"),
        (["usage", "-o", demo.lake / "x.csv"], "lies in the lake"),
        (["usage", "-o", tmp_path / "no" / "x.csv"], f"error: {tmp_path / 'no' / 'x.csv'}: No such file"),
    ):
        run = cli("export", *arguments, "--lake", demo.lake)
        assert (run.code, run.stdout) == (1, b"")
        assert message in run.stderr


def test_a_lake_to_share(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    run = cli("export", "--metadata-only", "--lake", demo.lake, "-o", shared)
    assert (run.code, run.stdout) == (0, b"")
    assert run.stderr.endswith(f" rows in {shared}\n")
    for query in ("from usage_by_day", "select type, count(*) from events group by type order by type"):
        assert cli("sql", query, "--lake", shared).stdout == cli("sql", query, "--lake", demo.lake).stdout
    assert (
        len(json.loads(cli("sessions", "--lake", shared, "--format", "json").stdout))
        == demo.truth["sessions"]
    )


def test_gaps_for_people() -> None:
    nothing = dict.fromkeys(KINDS, 0)
    about = {"day": "2026-11-30", "model": "m\x1b[1m", "session_id": None, "unreported_calls": 2}
    rows = [
        {
            "measure": "input",
            "ours": 1000,
            "theirs": 990,
            "gap": -10,
            **nothing,
            "attempts": -10,
            "unexplained": 0,
        },
        {"measure": "output", "ours": 5, "theirs": 8, "gap": 3, **nothing, "unreported": 3, "unexplained": 0},
        {"measure": "total", "ours": 7, "theirs": 7, "gap": 0, **nothing, "unexplained": 0},
        {"measure": "prompt", "ours": 7, "theirs": 4000, "gap": 3993, **nothing, "unexplained": 3993},
        {
            "measure": "cost",
            "ours": 0.5,
            "theirs": 0.25,
            "gap": -0.25,
            **dict.fromkeys(KINDS),
            "unexplained": None,
        },
    ]
    result = {
        "against": "provider",
        "rows": [about | row for row in rows],
        "left_out": [{"what": "days of a model", "count": 3, "reason": "the day is not in the export"}],
        "ignored_columns": ["api_key"],
    }
    assert reconcile_text(result, None) == (GOLDEN / "gaps.txt").read_text("utf-8")


def test_how_a_comparison_ends(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    export = tmp_path / "usage.csv"
    day, model = (
        cli(
            "sql",
            f"select {what} from usage where kind = 'message' limit 1",
            "--lake",
            demo.lake,
            "--format",
            "csv",
        )
        .text.splitlines()[1]
        .strip('"')
        for what in ('"at"::date::varchar', "model")
    )
    export.write_text(f"date,model,output\n{day},{model},0\n")
    run = cli("reconcile", export, "--lake", demo.lake)
    assert run.code == 2
    assert "1 figure: 0 equal, 0 explained, 1 unexplained" in run.text
    rows = json.loads(cli("reconcile", export, "--lake", demo.lake, "--format", "json").stdout)["rows"]
    lines = cli("reconcile", export, "--lake", demo.lake, "--format", "ndjson").text.splitlines()
    assert [json.loads(line)["unexplained"] for line in lines] == [row["unexplained"] for row in rows]
    export.write_text("no table")
    assert cli("reconcile", export, "--lake", demo.lake).code == 1
    assert cli("reconcile", tmp_path / "absent.csv", "--lake", demo.lake).code == 1
