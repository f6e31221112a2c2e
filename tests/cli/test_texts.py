"""What people read: golden files of the demo home, and the numbers in them against its truth."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dsh_lake
from cli.runs import GOLDEN, Cli
from demo_lake import DemoLake
from dsh_lake.cli.lake_text import compaction_text, doctor_text
from dsh_lake.cli.record_text import record_text
from dsh_lake.cli.summary_text import summary_text
from dsh_lake.cli.views_text import view_text, views_text
from logs import frame, header, log_path, user


def anonymous(document: Any, demo: DemoLake) -> Any:
    """The document as it would be on any machine at any time."""
    text = json.dumps(document).replace(str(demo.home.parent), "/demo")
    text = re.sub(r'"scan_id": "[^"]*"', '"scan_id": "20261201T080000Z-1"', text)
    return json.loads(re.sub(r'"elapsed_s": [0-9.]+', '"elapsed_s": 0.5', text))


def check(name: str, text: str) -> None:
    assert text == (GOLDEN / name).read_text("utf-8")


@pytest.mark.parametrize(("name", "width"), [("summary.txt", None), ("summary_80.txt", 80)])
def test_the_summary(name: str, width: int | None, demo: DemoLake) -> None:
    text = summary_text(anonymous(demo.summary, demo), width)
    check(name, text)
    if width is not None:
        assert all(len(line) <= width for line in text.splitlines() if "/demo/" not in line)


def test_the_numbers_of_the_summary_are_those_that_were_counted(demo: DemoLake) -> None:
    text, truth = (GOLDEN / "summary.txt").read_text("utf-8"), demo.truth
    facts = {
        "sessions": f"{truth['sessions']:,} +{truth['subagent_sessions']:,} of them sub-agents",
        "human messages": f"{truth['human_messages']:,} +of {truth['user_messages']:,} user messages",
        "assistant messages": f"{truth['assistant_messages']:,}",
        "tool calls": f"{truth['tool_calls']:,} +{truth['tool_errors']:,} failed ",
        "events": f"{truth['events']:,}",
        "all": " +".join(
            f"{truth['tokens'][bucket]:,}"
            for bucket in ("input", "output", "cache_read", "cache_write", "reasoning", "total")
        ),
    }
    for name, numbers in facts.items():
        assert re.search(rf"^{name} +{numbers}", text, re.M), name
    for name, tool in truth["tools"].items():
        assert re.search(rf"^{name} +{tool['calls']:,} +{tool['errors']:,} ", text, re.M)


def test_the_command_prints_the_object_that_its_json_is(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    arguments = ("scan", demo.home, "--lake", tmp_path / "lake")
    summary = json.loads(cli(*arguments, "--format", "json").stdout)
    run = cli(*arguments)
    assert (run.code, run.stderr) == (0, "")
    again = json.loads(cli(*arguments, "--format", "json").stdout)
    again["scan_id"] = re.search(r"\(scan (\S+),", run.text)[1]  # type: ignore[index]
    again["elapsed_s"] = float(re.search(r", ([0-9.]+) s\)", run.text)[1])  # type: ignore[index]
    assert summary_text(again, None) == run.text
    assert {**summary, "sources": 0, "scan_id": 0, "elapsed_s": 0} == {
        **again,
        "sources": 0,
        "scan_id": 0,
        "elapsed_s": 0,
    }


def test_a_clean_home_has_no_findings_to_show(tmp_path: Path) -> None:
    log_path(tmp_path / "home", "one").write_bytes(frame(header("one")) + frame(user(0, "hello")))
    text = summary_text(dsh_lake.scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1), None)
    assert text.endswith("no findings: everything was read\n")
    assert "no prompt tokens" in text
    assert "top tools" not in text
    assert re.search(r"^tool calls +0$", text, re.M)


def test_remembered_sessions_are_counted_beside_the_others(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("one", "two"):
        log_path(home, name).write_bytes(frame(header(name)))
    dsh_lake.scan(home, lake=tmp_path / "lake", jobs=1)
    log_path(home, "two").unlink()
    text = summary_text(dsh_lake.scan(home, lake=tmp_path / "lake", jobs=1), None)
    assert re.search(r"^sessions +1$", text, re.M)
    assert re.search(r"^remembered sessions +1 ", text, re.M)
    assert "1 file gone" in text


def test_sessions(cli: Cli, demo: DemoLake) -> None:
    run = cli("sessions", "--lake", demo.lake)
    assert (run.code, run.stderr) == (0, "")
    check("sessions.txt", run.text)


def test_as_many_sessions_as_wanted(cli: Cli, demo: DemoLake) -> None:
    count = demo.truth["sessions"]
    run = cli("sessions", "--limit", "3", "--lake", demo.lake)
    assert len(run.text.splitlines()) == 4
    assert run.stderr == f"the first 3 rows; there are {count - 3} more: --limit 0 shows all\n"
    assert cli("sessions", "--limit", "3", "--quiet", "--lake", demo.lake).stderr == ""
    assert len(json.loads(cli("sessions", "--format", "json", "--lake", demo.lake).stdout)) == count
    assert (
        len(json.loads(cli("sessions", "--limit", "2", "--format", "json", "--lake", demo.lake).stdout)) == 2
    )


def test_a_record(cli: Cli, demo: DemoLake) -> None:
    (log,) = demo.home.glob("sessions/*/*/session.v4.jsonl")
    run = cli("show", f"{log}#L5")
    assert run.code == 0
    check("record.txt", run.text.replace(str(demo.home), "/demo/home"))
    assert json.loads(cli("show", f"{log}#L5", "--format", "json").stdout) == dsh_lake.show(f"{log}#L5")


def test_a_rejected_line_a_packed_row_and_remarks() -> None:
    place = {"path": "/a\x1b[31m", "line": 7, "frame": 2, "byte_offset": 99, "is_recovered": True}
    nothing = {"seq": None, "time": None, "type": None, "record": None, "notes": ["torn \u202e"]}
    rejected = {
        "rejected": {"code": "malformed-json", "message": "no\njson"},
        "hex": bytes(range(0x38, 0x68)).hex(),
        "hex_offset": 12,
    }
    packed = {
        "seq": 4,
        "time": "2026-11-30T12:00:00.000000Z",
        "type": "text-chunks",
        "record": {"texts": ["\u001b导"]},
        "members": 3,
        "member": {"seq": 5, "data": None},
        "notes": [],
    }
    check(
        "odd_records.txt", record_text(place | nothing | rejected, None) + record_text(place | packed, None)
    )


def test_what_can_be_asked(cli: Cli) -> None:
    described = dsh_lake.views()
    text = cli("views").text
    assert text == views_text(described, None)
    for one in described:
        is_listed = f"\n  {one['name']}\n    {one['doc'][:40]}" in text
        assert is_listed == (one["kind"] != "internal")
    assert json.loads(cli("views", "--format", "json").stdout) == described
    assert all(len(line) <= 60 for line in views_text(described, 60).splitlines()[:-2] if " " in line.strip())


def test_one_table_and_its_sql(cli: Cli) -> None:
    one = dsh_lake.view("usage_by_kind")
    text = cli("views", "usage_by_kind").text
    assert text == view_text(one, None)
    assert text.endswith(one["sql"])
    assert re.search(r"^cache_read_share +double$", text, re.M)
    assert re.search(
        r"^session_id +varchar +the session the event belongs to$", cli("views", "usage").text, re.M
    )


def test_the_doctor(cli: Cli) -> None:
    report = {
        "ok": False,
        "versions": {"dsh-lake": "1.2.3", "python": "3.11.7", "duckdb": "2.0.1", "polars": None},
        "home": "/home/me/.dsh",
        "lake": {
            "path": "/lake\x07",
            "size_bytes": 12_345_678,
            "scans": 1234,
            "last_scan_at": "2026-12-01T08:00:00Z",
        },
        "checks": [
            {"name": "home", "status": "ok", "message": "there", "advice": None},
            {"name": "files", "status": "fail", "message": "gone", "advice": "scan again"},
        ],
    }
    check("doctor.txt", doctor_text(report, None))
    assert "lake: " in cli("doctor").text


def test_a_compaction(cli: Cli, demo: DemoLake, tmp_path: Path) -> None:
    report = {
        "lake": "/lake",
        "scan_id": "20261201T080000Z-2",
        "files": {"before": 1234, "after": 9},
        "bytes": {"before": 5_000_000_000, "after": 4_321_000},
        "rows": {"before": 1_000_000, "after": 999_999},
        "deleted_files": 1225,
        "deleted_bytes": 999,
    }
    check("compaction.txt", compaction_text(report, None))
    lake = tmp_path / "lake"
    for _ in range(2):
        dsh_lake.scan(demo.home, lake=lake, jobs=1, full=True)
    run = cli("compact", "--keep", "0", "--lake", lake, "--format", "json")
    assert (run.code, run.stderr) == (0, "")
    made = json.loads(run.stdout)
    assert made["deleted_files"] > 0
    assert re.search(r"^files +\d+ before, \d+ after$", cli("compact", "--lake", lake).text, re.M)


def test_a_folder_of_cassettes_alone_is_told_about_them_alone() -> None:
    summary = {
        "roots": ["/cassettes"],
        "sources": {"found": 0},
        "cassettes": 2,
        "interactions": 1,
        "lake": "/lake",
        "scan_id": "20261201T080000Z-1",
        "elapsed_s": 0.25,
        "findings": [
            {"severity": "fail", "code": code, "path": "/c", "position": None, "message": "m"}
            for code in ("rare", "often", "often")
        ],
    }
    text = summary_text(summary, None)
    assert text.startswith("In /cassettes:\n\n2 cassettes: 1 recorded call\nlake: /lake ")
    assert "3 findings: 3 fail\n  fail  2 often\n  fail  1 rare\n" in text
