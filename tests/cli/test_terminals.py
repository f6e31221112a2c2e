"""On a terminal: a bar while files are read, tables that fit, and nothing that the terminal obeys."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

import dsh_lake
from cli.runs import ROOT
from demo_lake import DemoLake
from dsh_lake.cli.layout import Column, table
from logs import event, frame, header, log_path

if sys.platform == "win32":
    pytest.skip("there are no pseudo terminals", allow_module_level=True)

import fcntl
import pty
import termios

UNSAFE = set("\x1b\x9b\u202e\u2066\x00")
HOSTILE = "red\x1b[31m \x9b2J \u202egnp.exe\u2066 nul\x00 导出"


def on_terminal(
    arguments: Sequence[str | Path], *, streams: str, columns: int = 80
) -> tuple[int, bytes, bytes]:
    """Run with ``stdout`` or ``stderr`` (or both) on a terminal; exit code, what it saw, and the other."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "dsh_lake.cli", *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=slave if "stdout" in streams else subprocess.PIPE,
        stderr=slave if "stderr" in streams else subprocess.PIPE,
    )
    os.close(slave)
    seen = bytearray()
    reader = threading.Thread(target=_drain, args=(master, seen))
    reader.start()
    out, error = process.communicate()
    reader.join()
    os.close(master)
    return process.returncode, bytes(seen), (out or b"") + (error or b"")


def _drain(master: int, seen: bytearray) -> None:
    while True:
        try:
            content = os.read(master, 65536)
        except OSError:
            return  # All who had the other end open have closed it.
        if not content:
            return
        seen += content


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake whose one session has a title, a tool and a path that would like to be obeyed."""
    folder = tmp_path_factory.mktemp("hostile")
    home = folder / "home"
    call = {"turn": 1, "step": 1, "callId": "c", "name": HOSTILE, "arguments": "{}"}
    log = log_path(home, "hostile")
    log.write_bytes(
        frame(header("hostile"))
        + frame(event("session/title", 0, {"title": HOSTILE}), event("tool/call", 1, call), b'{"type":\n')
    )
    dsh_lake.scan(home, lake=folder / "lake", jobs=1)
    return folder / "lake"


@pytest.mark.parametrize("output_format", ["table", "csv", "json"])
def test_no_text_of_the_archives_reaches_the_terminal_as_it_is(output_format: str, hostile: Path) -> None:
    arguments = ["sessions", "--format", output_format, "--lake", hostile]
    code, seen, other = on_terminal(arguments, streams="stdout", columns=300)
    assert (code, other) == (0, b"")
    text = seen.decode().replace("\r\n", "\n")
    assert "导出" in text
    assert not UNSAFE & set(text)


def test_json_on_a_terminal_is_the_same_json(hostile: Path) -> None:
    query = ["sql", "select title from sessions", "--format", "json", "--lake", hostile]
    _, seen, _ = on_terminal(query, streams="stdout")
    assert json.loads(seen) == [{"title": HOSTILE}]


def test_what_is_piped_is_left_as_it_is(hostile: Path) -> None:
    arguments = ["sql", "select title from sessions", "--format", "csv", "--lake", hostile]
    _, _, piped = on_terminal(arguments, streams="stderr")
    assert piped.decode() == f'"title"\n"{HOSTILE}"\n'


@pytest.mark.parametrize("arguments", [["show", "hostile#L2"], ["show", "hostile#L4"], ["doctor"]])
def test_no_other_command_lets_it_through(arguments: list[str], hostile: Path) -> None:
    code, seen, _ = on_terminal([*arguments, "--lake", hostile], streams="stdout stderr")
    assert code == 0
    assert not UNSAFE & set(seen.decode())


def test_names_of_folders_and_tools_are_made_safe_in_the_summary(hostile: Path, tmp_path: Path) -> None:
    home = shutil.copytree(hostile.parent / "home", tmp_path / "home\x1b[2J\u202e")
    code, seen, _ = on_terminal(
        ["scan", home, "--quiet", "--lake", tmp_path / "lake"], streams="stdout stderr"
    )
    assert code == 0
    assert b"home\\x1b[2J\\u202e" in seen
    assert not UNSAFE & set(seen.decode())


def test_an_error_does_not_let_it_through(hostile: Path) -> None:
    query = f"""select "{HOSTILE.replace(chr(0), "")}" from sessions"""
    code, seen, _ = on_terminal(["sql", query, "--lake", hostile], streams="stderr")
    assert code == 1
    assert "导出" in seen.decode()
    assert not UNSAFE & set(seen.decode())


def test_a_bar_is_shown_while_files_are_read(demo: DemoLake, tmp_path: Path) -> None:
    arguments = ["scan", demo.home, "--lake", tmp_path / "lake", "--format", "json"]
    code, seen, out = on_terminal(arguments, streams="stderr")
    assert code == 0
    assert b"reading" in seen
    assert json.loads(out)["sessions"] == demo.truth["sessions"]
    code, seen, out = on_terminal([*arguments, "--quiet"], streams="stderr")
    assert (code, seen) == (0, b"")


@pytest.mark.parametrize(("columns", "left_out"), [(80, "workspace, model, cost (USD)"), (120, "")])
def test_a_table_fits_the_terminal_and_its_numbers_are_whole(
    columns: int, left_out: str, demo: DemoLake
) -> None:
    _, seen, _ = on_terminal(["sessions", "--lake", demo.lake], streams="stdout", columns=columns)
    lines = seen.decode().splitlines()
    rows = dsh_lake.sessions(demo.lake).to_pylist()
    for row, line in zip(rows, lines[1:], strict=False):
        assert f" {row['tokens']:,} " in line
        assert row["time"].strftime("%Y-%m-%d %H:%M") in line
    assert all(cell_len(line) <= columns for line in lines)
    assert lines[len(rows) + 1 :] == ([f"(no room for {left_out})"] if left_out else [])


def test_what_cannot_fit_is_shown_one_value_a_line(demo: DemoLake) -> None:
    query = "select session_id, tool_calls from session_summary order by all limit 2"
    _, seen, _ = on_terminal(["sql", query, "--lake", demo.lake], streams="stdout", columns=23)
    rows = dsh_lake.sql(query, demo.lake).to_pylist()
    records = [f"session_id  {row['session_id']}\ntool_calls  {row['tool_calls']}\n" for row in rows]
    assert seen.decode().replace("\r\n", "\n") == "\n".join(records)


def test_columns_are_aligned_by_what_is_seen() -> None:
    columns = [Column("a", ["导出", "x", "🦆"]), Column("n", ["1", "1,000", "-"], is_number=True)]
    assert table(columns) == ["a         n", "导出      1", "x     1,000", "🦆        -"]


def test_texts_give_way_and_numbers_do_not() -> None:
    columns = [
        Column("text", ["x" * 40, "y" * 12]),
        Column("more", ["导" * 20, "-"], is_optional=True),
        Column("n", ["1,234,567", "-"], is_number=True),
    ]
    assert table(columns, 40) == [
        "text           more                    n",
        "xxxxxxxxxxxx…  导导导导导导…   1,234,567",
        "yyyyyyyyyyyy   -                       -",
    ]
    assert table(columns, 25) == [
        "text                    n",
        "xxxxxxxxxxxxx…  1,234,567",
        "yyyyyyyyyyyy            -",
        "(no room for more)",
    ]
    assert table(columns, 20)[:3] == [f"text  {'x' * 40}", f"more  {'导' * 20}", "n     1,234,567"]
    assert len(table(columns)[1]) == 40 + 2 + 20 + 2 + 9
