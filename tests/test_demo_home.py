"""The demo home is the same every time, is what a harness could have written, and its truth is true."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

import dsh_lake
from demo_home import workspace_folder, write_home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "home"


@pytest.fixture(scope="module")
def truth(home: Path) -> dict[str, Any]:
    return write_home(home)


def files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()
    }


def frames(path: Path) -> list[bytes]:
    """The texts of the complete frames, by a plain decoder; a plain log is one."""
    content = path.read_bytes()
    if path.suffix != ".zstd":
        return [content]
    texts = []
    while content:
        decoder = zstandard.ZstdDecompressor().decompressobj()
        text = decoder.decompress(content)
        if not decoder.eof:
            break
        texts.append(text)
        content = decoder.unused_data
    return texts


def current_logs(home: Path) -> Iterator[tuple[Path, list[bytes], list[dict[str, Any]]]]:
    """Of each session folder the newest log: its path, its frames, its parsed lines."""
    for folder in sorted(home.glob("sessions/*/*")):
        logs = sorted(folder.glob("session*.jsonl*"))
        if logs:
            texts = frames(logs[-1])
            yield logs[-1], texts, [json.loads(line) for line in b"".join(texts).split(b"\n") if line]


def test_the_same_bytes_every_time(home: Path, truth: dict[str, Any], tmp_path: Path) -> None:
    run = [sys.executable, str(Path(__file__).with_name("demo_home.py")), str(tmp_path / "again")]
    subprocess.run(run, check=True, capture_output=True)
    assert json.loads((tmp_path / "demo_truth.json").read_text(encoding="utf-8")) == truth
    assert files(tmp_path / "again") == files(home)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(FileExistsError):
        write_home(tmp_path)


def test_every_log_is_one_that_a_harness_could_have_written(home: Path, truth: dict[str, Any]) -> None:
    for path, texts, (header, *rows) in current_logs(home):
        assert all(text.endswith(b"\n") for text in texts)
        generation = int(path.name.removeprefix("session.v")[0]) if ".v" in path.name else 0
        assert (header["type"], header["version"], header["id"]) == ("session", generation, path.parent.name)
        assert path.parent.parent.name == workspace_folder(header["cwd"])
        expected_seq = 0
        for row in rows:
            packed = "seq0" in row
            members = len(row["data"].get("texts") or row["data"]["args"]) if packed else 1
            assert row["seq0" if packed else "seq"] == expected_seq
            assert not packed or (members >= 3 and len(row["data"]["dt"]) == members - 1)
            expected_seq += members
        sessions = truth["by_session"][header["id"]]
        assert (sessions["events"], sessions["lines"]) == (expected_seq, len(rows) + 1)


def test_the_plain_counts_of_the_truth_are_those_of_the_bytes(home: Path, truth: dict[str, Any]) -> None:
    counts: Counter[str] = Counter()
    for path, texts, lines in current_logs(home):
        counts["sessions"] += 1
        counts["frames"] += len(texts) if path.suffix == ".zstd" else 0
        counts["lines"] += len(lines)
        counts["compressed_bytes"] += path.stat().st_size
        counts["decoded_bytes"] += sum(map(len, texts))
        counts["subagent_sessions"] += lines[0].get("origin") == "subagent"
        counts["seeded_sessions"] += bool(lines[0].get("isSeeded") or "seedLength" in lines[0])
    assert {name: truth[name] for name in counts} == counts
    assert truth["sources_found"] == sum(1 for _ in home.glob("sessions/*/*/session*.jsonl*"))


def test_usage_of_unforked_logs_is_what_their_messages_state(home: Path, truth: dict[str, Any]) -> None:
    """By the shortest reader there is; forks, attempts and compactions need a real one."""
    names = {
        "input": "inputTokens",
        "output": "outputTokens",
        "cache_read": "cacheReadTokens",
        "cache_write": "cacheWriteTokens",
        "reasoning": "reasoningTokens",
    }
    compared = 0
    for _, _, (header, *rows) in current_logs(home):
        types = {row["type"] for row in rows}
        if header.get("isSeeded") or "seedLength" in header or types & {"llm/retry", "compaction/summary"}:
            continue
        stated = [row["data"]["usage"] for row in rows if "usage" in row["data"]]
        sums = {bucket: sum(usage.get(name, 0) for usage in stated) for bucket, name in names.items()}
        tokens = truth["by_session"][header["id"]]["tokens"]
        assert tokens == sums | {"total": sum(sums.values()) - sums["reasoning"]}
        compared += 1
    assert compared > 15


def test_a_scan_of_it_says_the_truth(home: Path, truth: dict[str, Any], tmp_path: Path) -> None:
    """The main job, on a clone that has nothing else."""
    summary = dsh_lake.scan([home], lake=tmp_path / "lake")
    said = {name: summary[name] for name in truth.keys() & summary.keys()}
    assert said == {name: truth[name] for name in said}
    assert {"sessions", "events", "frames", "lines", "tool_errors", "tokens", "tokens_by_kind"} <= said.keys()
    sources = {"found": truth["sources_found"], "superseded": truth["sources_superseded"], "duplicate": 0}
    assert {name: summary["sources"][name] for name in sources} == sources
    tools = {
        tool["name"]: {"calls": tool["calls"], "errors": tool["errors"]} for tool in summary["top_tools"]
    }
    assert tools and all(truth["tools"][name] == counted for name, counted in tools.items())
    assert sorted(finding["code"] for finding in summary["findings"]) == ["torn-tail", "unknown-event"]


def test_it_holds_what_it_is_meant_to_show(home: Path, truth: dict[str, Any]) -> None:
    versions = Counter(session["format_version"] for session in truth["by_session"].values())
    assert set(versions) == {0, 3, 4}
    assert len({session["workspace"] for session in truth["by_session"].values()}) == 3
    wanted = ("tool_errors", "tool_interrupted", "tool_unanswered", "torn_tails", "sources_superseded")
    wanted += ("subagent_sessions", "seeded_sessions", "inherited_events", "unknown_required_events")
    assert all(truth[name] > 0 for name in wanted)
    assert all(truth["tokens_by_kind"][kind]["total"] > 0 for kind in ("message", "attempt", "compaction"))
    assert len(truth["error_codes"]) >= 5
    parents = {key: session["parent_session_id"] for key, session in truth["by_session"].items()}
    assert any(parents.get(parent) for parent in parents.values() if parent), "no sub-agent of a sub-agent"
    packed = [path for path, texts, _ in current_logs(home) if b'"seq0"' in b"".join(texts)]
    assert packed and all(path.name == "session.jsonl.zstd" for path in packed)
    assert len(list(home.rglob("session.v4.jsonl"))) == 1
