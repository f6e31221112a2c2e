"""Every command explains itself, and needs no other library to do so."""

from __future__ import annotations

import pytest

import dsh_lake
from cli.runs import Cli

COMMANDS = ("scan", "sessions", "show", "sql", "views", "doctor", "compact")


def test_the_help_names_every_command_and_the_exit_codes(cli: Cli) -> None:
    run = cli("--help")
    assert (run.code, run.stderr) == (0, "")
    for command in COMMANDS:
        assert f"\n  {command} " in run.text
    assert "Exit codes: 0 clean; 2 findings" in run.text
    assert cli().stdout == run.stdout
    assert cli("-h").stdout == run.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_says_what_it_answers_and_gives_an_example(command: str, cli: Cli) -> None:
    run = cli(command, "--help")
    assert (run.code, run.stderr) == (0, "")
    assert f"\n    dsh-lake {command}" in run.text
    for option in ("--format", "-o, --output FILE", "--quiet", "--verbose"):
        assert option in run.text
    if command != "views":
        assert "--lake DIR" in run.text


@pytest.mark.parametrize("command", ["sessions", "show", "sql"])
def test_what_reads_the_lake_can_read_it_as_of_a_scan(command: str, cli: Cli) -> None:
    assert "--as-of SCAN" in cli(command, "--help").text


def test_each_command_is_a_public_function_of_its_name() -> None:
    for command in COMMANDS:
        assert callable(getattr(dsh_lake, command))


def test_the_version(cli: Cli) -> None:
    assert cli("--version").text == f"dsh-lake {dsh_lake.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(shell: str, cli: Cli) -> None:
    run = cli("--show-completion", shell)
    assert (run.code, run.stderr) == (0, "")
    assert "_DSH_LAKE_COMPLETE" in run.text
