"""The exit code says what happened, stdout is results, stderr says the rest in a sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dsh_lake.sessions
from cli.runs import Cli, started
from demo_lake import DemoLake
from dsh_lake.errors import LakeBusy


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nope"], "No such command 'nope'"),
        (["scan", "--nope"], "No such option: --nope"),
        (["scan", "--jobs", "0"], "--jobs"),
        (["scan", "--jobs", "many"], "--jobs"),
        (["show"], "REF"),
        (["sessions", "--limit", "-1"], "--limit"),
        (["sessions", "--format", "xml"], "--format"),
        (["views", "a", "b"], "unexpected"),
        (["compact", "--keep", "-1"], "--keep"),
    ],
)
def test_a_usage_error_is_1_and_names_the_help(arguments: list[str], reason: str, cli: Cli) -> None:
    run = cli(*arguments)
    assert (run.code, run.stdout) == (1, b"")
    assert reason in run.stderr
    assert "--help`" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["scan"], "may be read; where else a home is: dsh-lake scan DIR, or DSH_HOME\n"),
        (["scan", "/no/such/home"], "/no/such/home: cannot be read"),
        (["scan", "/no/such/home"], "may be read\n"),
        (["sql", "select 1"], "no lake here; `dsh-lake scan` makes one"),
        (["sessions"], "no lake here"),
        (["show", "abc#L1"], "no lake here"),
        (["show", "abc"], "names no record"),
        (["show", "/no/such/file#L1"], "no such file"),
        (["views", "nope"], "no table or view is called 'nope'"),
        (["compact"], "no lake here"),
        (["compact", "--keep", "inf"], "inf days cannot be kept"),
        (["compact", "--keep", "1e300"], "1e+300 days cannot be kept"),
        (["views", "-o", "/no/such/folder/views.json"], "error: /no/such/folder/views.json: No such file"),
        (["views", "-o", "/tmp"], "error: /tmp: Is a directory"),
    ],
)
def test_work_that_cannot_be_done_is_1(arguments: list[str], reason: str, cli: Cli) -> None:
    run = cli(*arguments)
    assert (run.code, run.stdout) == (1, b"")
    assert run.stderr.startswith("error: ")
    assert reason in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert "Traceback" not in run.stderr


def test_verbose_says_where_it_happened(cli: Cli) -> None:
    run = cli("sql", "select 1", "--verbose")
    assert run.code == 1
    assert "Traceback" in run.stderr
    assert "error: " in run.stderr.splitlines()[-1]
    assert "Traceback" not in cli("sql", "select 1").stderr


def test_a_fault_of_the_program_says_so(cli: Cli, demo: DemoLake, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("half a session")

    monkeypatch.setattr(sys.modules["dsh_lake.sessions"], "sessions", broken)
    run = cli("sessions", "--lake", demo.lake)
    assert (run.code, run.stdout) == (1, b"")
    assert "a fault of dsh-lake: ZeroDivisionError: half a session" in run.stderr


def test_a_busy_lake_is_1(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    lake = dsh_lake.lake.Lake(tmp_path / "lake")
    with lake.writing():
        run = cli("scan", demo.home, "--lake", lake.path)
    assert run.code == 1
    assert "lake busy" in run.stderr
    assert issubclass(LakeBusy, Exception)


@pytest.mark.parametrize("strict", [False, True])
def test_only_strict_makes_findings_2_and_the_summary_comes_all_the_same(
    strict: bool, cli: Cli, tmp_path: Path
) -> None:
    log = tmp_path / "session.v4.jsonl"
    log.write_text('{"type":"session","version":4,"id":"a","isSeeded":false}\n{"type":\n')
    run = cli("scan", log, "--lake", tmp_path / "lake", "--format", "json", *(["--strict"] if strict else []))
    assert run.code == (2 if strict else 0)
    summary = json.loads(run.stdout)
    assert [finding["severity"] for finding in summary["findings"]] == ["fail"]
    assert run.stderr == ""


def test_strict_without_findings_is_0(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.v4.jsonl"
    log.write_text(
        '{"type":"session","version":4,"id":"a","isSeeded":false}\n{"type":"x/y","seq":0,"time":1}\n'
    )
    run = cli("scan", log, "--lake", tmp_path / "lake", "--format", "json", "--strict")
    assert run.code == 0
    assert [finding["severity"] for finding in json.loads(run.stdout)["findings"]] == ["warn"]


def test_a_broken_lake_makes_the_doctor_exit_with_1(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    dsh_lake.scan(demo.home, lake=lake, jobs=1)
    assert cli("doctor", "--lake", lake).code == 0
    assert cli("doctor", "--lake", tmp_path / "nothing").code == 0
    for part in (lake / "tables" / "events").glob("*.parquet"):
        part.unlink()
    run = cli("doctor", "--lake", lake, "--format", "json")
    assert run.code == 1
    assert json.loads(run.stdout)["ok"] is False


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals are others there")
class TestProcesses:
    """What only a process of its own can show."""

    @pytest.mark.parametrize("output_format", ["ndjson", "csv"])
    def test_who_reads_no_further_is_no_error(self, output_format: str, demo: DemoLake) -> None:
        query = "select i, repeat('x', 100) as t from range(1000000) t(i)"
        with started(["sql", query, "--format", output_format, "--lake", demo.lake]) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0

    def test_a_text_nobody_reads_is_no_error(self) -> None:
        with started(["views"]) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0

    def test_an_interrupt_is_130(self, demo: DemoLake, tmp_path: Path) -> None:
        query = "select count(*) from range(100000000000) t(i) where hash(i) % 7 = 1"
        output = tmp_path / "never.csv"
        with started(["sql", query, "-o", output, "--lake", demo.lake], cwd=tmp_path) as process:
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            written, error = process.communicate(timeout=30)
        assert (process.returncode, written, error) == (130, b"", b"")
        assert list(tmp_path.iterdir()) == []

    def test_a_stdout_that_knows_few_letters(self, demo: DemoLake, tmp_path: Path) -> None:
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONPATH": os.getcwd()}
        command = [
            sys.executable,
            "-m",
            "dsh_lake.cli",
            "sql",
            "select '导出' as t",
            "--lake",
            str(demo.lake),
        ]
        run = subprocess.run(command, env=environment, capture_output=True, check=True)
        assert run.stdout.decode() == "t\n导出\n"
        command[4] = "select 导出"
        run = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert run.returncode == 1
        assert b"\\u5bfc\\u51fa" in run.stderr
