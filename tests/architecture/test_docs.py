"""What is written for people is in step with what there is: queries, commands, options, codes of findings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from dsh_lake import query_docs
from finding_codes import codes_in_python, codes_in_sql

READMES = ["README.md", "README.zh-CN.md"]


# -- queries/README.md -------------------------------------------------------------------------------------


def test_the_list_of_queries_is_what_the_queries_say(project_root: Path) -> None:
    written = (project_root / "queries" / "README.md").read_text("utf-8")
    assert written == query_docs.readme(), "run: python -m dsh_lake.query_docs > queries/README.md"


# -- the readmes -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def commands() -> dict[str, typer.core.TyperCommand]:
    """The commands of ``dsh-lake --help`` by name."""
    from dsh_lake.cli.app import app

    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return {name: command for name, command in group.commands.items() if not command.hidden}


def options_of(command: object) -> Iterator[str]:
    """The options of a command and of those below it."""
    for parameter in getattr(command, "params", ()):
        yield from parameter.opts
    for below in getattr(command, "commands", {}).values():
        yield from options_of(below)


@pytest.mark.parametrize("name", READMES)
def test_the_table_of_commands_has_every_command(
    name: str, commands: dict[str, typer.core.TyperCommand], project_root: Path
) -> None:
    rows = re.findall(r"^\| `([a-z-]+)[^`]*` \|", (project_root / name).read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(commands)


@pytest.mark.parametrize("name", [*READMES, "docs/lake.md"])
def test_options_that_are_named_exist(
    name: str, commands: dict[str, typer.core.TyperCommand], project_root: Path
) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", (project_root / name).read_text("utf-8")))
    known = {option for command in commands.values() for option in options_of(command)} | {"--help"}
    assert named <= known


@pytest.mark.parametrize("name", READMES)
def test_files_that_are_linked_exist(name: str, project_root: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)", (project_root / name).read_text("utf-8"))
    assert targets
    assert [target for target in targets if not (project_root / target).exists()] == []


def test_both_readmes_show_the_same_commands_and_outputs(project_root: Path) -> None:
    texts = [(project_root / name).read_text("utf-8") for name in READMES]
    english, chinese = (
        [_code(block) for block in re.findall(r"```.*?```", text, re.DOTALL)] for text in texts
    )
    assert english == chinese


def _code(block: str) -> list[str]:
    """The lines of a code block without the comments that explain them."""
    return [re.sub(r" *#(?!L|seq).*", "", line) for line in block.splitlines()]


# -- codes of findings -------------------------------------------------------------------------------------


def documented(project_root: Path) -> set[str]:
    """The codes in the first column of every table of codes in ``docs``."""
    codes: set[str] = set()
    for page in sorted((project_root / "docs").glob("*.md")):
        for table in re.findall(r"^\| code \|.*\n((?:\|.*\n)+)", page.read_text("utf-8"), re.MULTILINE):
            first_cells = [row.split("|")[1] for row in table.splitlines()]
            codes.update(code for cell in first_cells for code in re.findall("`([^`]+)`", cell))
    return codes


def test_codes_of_findings_are_explained(project_root: Path) -> None:
    """Every code that can be given out is in a table of codes in ``docs``, and there is none that cannot."""
    given_out = codes_in_python(project_root / "dsh_lake") | codes_in_sql(project_root / "queries")
    assert {"torn-tail", "frame-too-large", "copies-differ", "flat-log"} <= given_out
    explained = documented(project_root)
    assert sorted(given_out - explained) == [], "not explained in docs"
    assert sorted(explained - given_out) == [], "explained, but nothing gives it out"
