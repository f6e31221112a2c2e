"""``dsh-lake report usage``: where the page goes, what is said about it, exit codes."""

from __future__ import annotations

from pathlib import Path

from cli.runs import Cli
from demo_lake import DemoLake


def test_markdown_goes_to_stdout_unless_told_otherwise(cli: Cli, demo: DemoLake) -> None:
    run = cli("report", "usage", "--lake", demo.lake)
    assert (run.code, run.stderr) == (0, "")
    assert run.text.startswith("# Agent usage\n")


def test_a_file_is_named_by_its_format_or_its_ending(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    for option, name in (("--html", "page"), ("-o", "a.md")):
        run = cli("report", "usage", "--lake", demo.lake, option, tmp_path / name)
        assert (run.code, run.stdout) == (0, b"")
        assert f"{demo.truth['sessions']} sessions" in run.stderr
    assert (tmp_path / "page").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "a.md").read_text("utf-8").startswith("# Agent usage")
    assert cli("report", "usage", "--lake", demo.lake, "--markdown", tmp_path / "b", "--quiet").stderr == ""


def test_a_period_and_titles(cli: Cli, demo: DemoLake) -> None:
    run = cli(
        "report", "usage", "--lake", demo.lake, "--since", "2026-11-10", "--until", "2026-11-12", "--titles"
    )
    assert "from 2026-11-10 up to, but without, 2026-11-12" in run.text
    assert "| title |" in run.text


def test_what_cannot_be_done_is_said_with_1(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    for arguments, message in (
        (["--html", tmp_path / "a", "--markdown", tmp_path / "b"], "give one of"),
        (["-o", tmp_path / "a.txt"], "says no format"),
        (["--since", "soon"], "is no day"),
        (["--as-of", "never"], "never"),
    ):
        run = cli("report", "usage", "--lake", demo.lake, *arguments)
        assert (run.code, run.stdout) == (1, b"")
        assert message in run.stderr
    assert cli("report", "usage", "--lake", tmp_path / "none").code == 1
