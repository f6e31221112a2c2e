#!/usr/bin/env python3
"""Write a small synthetic DSH home, and the truth about it as JSON.

    python tests/demo_home.py OUT [--truth FILE]      (FILE: default demo_truth.json beside OUT)

Three weeks in three workspaces, as three generations of the harness would have left them: packed chunk
rows (v0), wrapped tool results (v3), tool-role messages (v4), sub-agents and one of their own, forks,
retries, compactions, tool errors, a killed session, a repaired one, a torn tail, an old generation beside
the newer one, a plain log, a model switch, unknown event types. All text is made up and nothing reads the
clock: the same bytes every time.

The truth is counted while the lines are written, never by reading them back. Its words are those of
``dsh-lake scan --format json``: counts are of own events, ``events`` and ``lines`` of inherited ones too.

The shapes of the lines are in ``demo_log.py``; here is what happened, and in which files it lies.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from demo_log import BUCKETS, HOUR_MS, MINUTE_MS, Call, Log, Truth

DAY_MS = 24 * HOUR_MS
FIRST_DAY_MS = int(datetime(2026, 11, 9, tzinfo=UTC).timestamp() * 1000)  # a Monday

ATLAS, BEACON, NOTES = "/home/dev/projects/atlas", "/home/dev/projects/beacon", "/home/dev/field notes"
FLASH, PRO, OLD_FLASH = "deepseek-v4-flash", "deepseek-v4-pro", "deepseek-flash"

PROMPTS = (
    "Why does the importer drop the last row?",
    "Add a retry to the uploader and cover it with a test.",
    "把导出按钮的文案改成中文。",
    "The nightly job takes an hour. Find out where it goes.",
    "Rename Station to Site everywhere, the docs too.",
    "Write down what we decided about time zones.\u2028Keep it to one page.",
    "Is the cache key stable across platforms?",
    "Summarise the open questions in the field notes.",
)
WORDS = (
    "importer",
    "station",
    "reading",
    "gauge",
    "ledger",
    "window",
    "column",
    "parser",
    "offset",
    "archive",
    "nightly",
    "upload",
    "sensor",
    "drift",
    "harbour",
    "tide",
    "marker",
    "sample",
    "buoy",
    "logger",
    "battery",
    "calibration",
    "outlier",
    "gap",
    "index",
    "commit",
    "branch",
    "review",
)
PATHS = ("src/importer.py", "src/upload.py", "tests/test_upload.py", "docs/time-zones.md", "notes/harbour.md")
FAILURE_RATE = 0.12


class Tool(NamedTuple):
    """What a tool is called with, what it answers, and how it fails (error name, code, text)."""

    name: str
    weight: int
    argument: str
    failure: tuple[str, str | None, str]


TOOLS = (
    Tool("read", 8, "file_path", ("FsError", "FS_NOT_FOUND", "Error: cannot read: not found")),
    Tool("bash", 7, "command", ("", None, "Error: the sandbox refused to widen its mode")),
    Tool("grep", 4, "pattern", ("ToolAbortedError", "ABORTED", "Error: tool call aborted")),
    Tool("edit", 4, "file_path", ("ToolArgsError", "INVALID_ARGS", "Error: old_text does not occur")),
    Tool("web_fetch", 1, "url", ("WebError", "WEB_BLOCKED_URL", "Error: this address is blocked")),
    Tool("list_dir", 1, "path", ("ToolNotFoundError", "UNKNOWN_TOOL", "Error: there is no such tool")),
)


# ---------------------------------------------------------------- files


class Home:
    """The folder that is written, and the sum of what is in it."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.total = Truth()
        self.by_session: dict[str, dict[str, Any]] = {}

    def keep(
        self,
        log: Log,
        *,
        is_plain: bool = False,
        is_superseded: bool = False,
        folder_of: Log | None = None,
        torn: Log | None = None,
    ) -> None:
        """Write a log to its place.

        Args:
            is_plain: Without compression.
            is_superseded: A newer generation lies beside it: nothing in it counts.
            folder_of: The log in whose folder it lies, when that is not its own.
            torn: A log of which half of the last frame follows, as a crash would have left it.
        """
        log.flush()
        session_id = (folder_of or log).session_id
        folder = self.out / "sessions" / workspace_folder(log.cwd) / session_id
        folder.mkdir(parents=True, exist_ok=True)
        generation = f".v{log.version}" if log.version else ""
        path = folder / f"session{generation}.jsonl{'' if is_plain else '.zstd'}"
        texts = ["".join(f"{line}\n" for line in batch).encode() for batch in log.frames]
        content = b"".join(texts if is_plain else map(_frame, texts))
        torn_tail = b""
        if torn is not None:
            whole = _frame("".join(f"{line}\n" for line in torn.batch).encode())
            torn_tail = whole[: len(whole) // 2]
        path.write_bytes(content + torn_tail)
        if log.version >= 3:
            (folder / "session.lock").touch()
        self.total.counts["sources_found"] += 1
        self.total.counts["sources_superseded"] += is_superseded
        if not is_superseded:
            counts = log.truth.counts
            counts["lines"] = sum(map(len, log.frames))
            counts["frames"] = 0 if is_plain else len(log.frames)
            counts["compressed_bytes"] = len(content) + len(torn_tail)
            counts["decoded_bytes"] = sum(map(len, texts))
            counts["torn_tails"] = int(torn is not None)
            counts["torn_tail_bytes"] = len(torn_tail)
            self._count(log)

    def _count(self, log: Log) -> None:
        truth = log.truth
        for call_id, name in log.calls.items():
            truth.counts["tool_calls"] += 1
            truth.tools[name, "calls"] += 1
            truth.counts["tool_unanswered"] += call_id not in log.answers
        for call_id, (status, code) in log.answers.items():
            truth.counts["tool_results"] += 1
            truth.counts["tool_errors"] += status == "error"
            truth.counts["tool_interrupted"] += status == "interrupted"
            if status == "error":
                truth.tools[log.calls[call_id], "errors"] += 1
                truth.error_codes[code or "none"] += 1
        self.by_session[log.session_id] = {
            "workspace": workspace_folder(log.cwd),
            "format_version": log.version,
            "parent_session_id": log.parent.session_id if log.parent else None,
            **_counted(truth.counts),
            "tokens": _by_bucket(truth, None),
        }
        for name in ("counts", "tokens", "tools", "error_codes"):
            getattr(self.total, name).update(getattr(truth, name))

    def truth(self) -> dict[str, Any]:
        """Everything that was counted, ready for JSON."""
        total = self.total
        kinds, models, days = (sorted({key[place] for key in total.tokens}) for place in range(3))
        return {
            **_counted(total.counts),
            "tokens": _by_bucket(total, None),
            "tokens_by_kind": {kind: _by_bucket(total, kind) for kind in kinds},
            "tokens_by_model": {
                model: {kind: _by_bucket(total, kind, model) for kind in kinds} for model in models
            },
            "tokens_by_day": {day: _by_bucket(total, day) for day in days},
            "tools": {
                name: {"calls": total.tools[name, "calls"], "errors": total.tools[name, "errors"]}
                for name in sorted({name for name, _ in total.tools})
            },
            "error_codes": dict(sorted(total.error_codes.items())),
            "by_session": self.by_session,
        }


def workspace_folder(cwd: str) -> str:
    """The folder of a working directory's sessions, as DSH names it (for the plain letters used here)."""
    slug = re.sub(r"[/\\:]+", "-", cwd).lstrip("-")
    return f"--{re.sub(r'[^A-Za-z0-9._-]', lambda found: f'~{ord(found[0]):04X}', slug)}--"


def _frame(text: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(text)


def _counted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _by_bucket(truth: Truth, *wanted: str | None) -> dict[str, int]:
    """The token buckets of the entries that carry all wanted parts (kind, model or day)."""
    parts = {part for part in wanted if part is not None}
    sums = dict.fromkeys(BUCKETS, 0)
    for key, count in truth.tokens.items():
        if parts <= set(key):
            sums[key[3]] += count
    return sums | {"total": sum(sums.values()) - sums["reasoning"]}


# ---------------------------------------------------------------- made-up work


def sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def work(log: Log, steps: int) -> None:
    """Some steps with tools in the open turn, then the last reply and the end of the turn."""
    rng = log.rng
    for _ in range(steps):
        chosen = rng.choices(TOOLS, [tool.weight for tool in TOOLS], k=rng.choice((1, 1, 2)))
        requests = tuple((tool.name, _arguments(rng, tool)) for tool in chosen)
        says = sentence(rng, 6) if rng.random() < 0.4 else ""
        made = log.reply(says, requests, reasoning=sentence(rng, 12) if rng.random() < 0.3 else "")
        for tool, call in zip(chosen, made, strict=True):
            fails = rng.random() < FAILURE_RATE or tool.name == "list_dir"
            text = tool.failure[2] if fails else _output(rng, tool)
            log.answer(call, text, tool.failure[:2] if fails else None)
        log.end_step()
        log.begin_step()
    reasoning = sentence(rng, 20) if rng.random() < 0.5 else ""
    log.reply(sentence(rng, rng.randrange(8, 40)), reasoning=reasoning)
    log.end_turn()
    if log.version >= 4:
        log.emit("workspace/changes", {"turn": log.turn})
        log.flush()


def talk(log: Log, turns: int) -> None:
    """Ordinary turns, with pauses; the provider forgets a prompt after half an hour."""
    rng = log.rng
    for _ in range(turns):
        log.prompt(rng.choice(PROMPTS))
        work(log, rng.randrange(0, 5))
        pause_ms = rng.randrange(MINUTE_MS, 50 * MINUTE_MS)
        log.at_ms += pause_ms
        if pause_ms > 30 * MINUTE_MS:
            log.cached_tokens = 0


def _arguments(rng: random.Random, tool: Tool) -> str:
    value = rng.choice(PATHS) if "path" in tool.argument else sentence(rng, 3)
    return json.dumps({tool.argument: value, "reason": sentence(rng, 4)})


def _output(rng: random.Random, tool: Tool) -> str:
    lines = [sentence(rng, rng.randrange(4, 14)) for _ in range(rng.randrange(1, 25))]
    if tool.name == "bash" and rng.random() < 0.2:
        lines.append("[exit code: 1]")  # A command that failed is no failed call.
    return "\n".join(lines)


# ---------------------------------------------------------------- what happened in these three weeks


def _when(day: int, hour: int, minute: int = 0) -> int:
    return FIRST_DAY_MS + day * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS


def _started(name: str, version: int, cwd: str, at_ms: int, model: str = FLASH, **options: Any) -> Log:
    log = Log(name, version=version, cwd=cwd, at_ms=at_ms, model=model, **options)
    log.open()
    return log


def ordinary_sessions(home: Home) -> None:
    """Days of plain work: in and out of Beijing's peak hours, one of them on a weekend."""
    days = (
        ("tides", 0, ATLAS, _when(0, 1, 40), OLD_FLASH, 4),
        ("gauges", 0, BEACON, _when(2, 13, 5), OLD_FLASH, 3),
        ("drift", 3, ATLAS, _when(8, 7, 20), FLASH, 4),
        ("outliers", 4, BEACON, _when(12, 11, 0), FLASH, 3),
        ("harbour", 4, NOTES, _when(17, 18, 30), PRO, 2),
    )
    for name, version, cwd, at_ms, model, turns in days:
        log = _started(name, version, cwd, at_ms, model)
        talk(log, turns)
        home.keep(log)


def retries(home: Home) -> None:
    """A request that fails and is made again. What the failed one cost is on record in v0 and v3 only."""
    for version, day, is_billed in ((0, 1, True), (3, 9, True), (4, 15, False)):
        log = _started(f"retry-{version}", version, ATLAS, _when(day, 3, 10))
        talk(log, 1)
        log.prompt(PROMPTS[3])
        log.failed_attempt("EMPTY_RESPONSE", "the model returned no content", is_billed=is_billed)
        work(log, 2)
        home.keep(log)


def compaction(home: Home) -> None:
    for version, day in ((3, 10), (4, 16)):
        log = _started(f"long-{version}", version, BEACON, _when(day, 8))
        talk(log, 4)
        log.prompt(PROMPTS[4])
        log.compact("## Goal\n" + sentence(log.rng, 30))
        work(log, 3)
        home.keep(log)


def model_switch(home: Home) -> None:
    log = _started("switch", 4, ATLAS, _when(18, 2))
    talk(log, 2)
    log.select_model(PRO)
    talk(log, 2)
    home.keep(log)


def families(home: Home) -> None:
    """Sub-agents: two of one parent, one of them with a child of its own; one that answers in its result; a
    forked one that starts with a copy of its parent."""
    parent = _started("family", 4, ATLAS, _when(14, 9))
    parent.prompt("Split this up: two halves, then put them together.")
    first, second = parent.reply("", (_spawn("first half"), _spawn("second half")))
    children = [_child(home, parent, call, label) for call, label in ((first, "first"), (second, "second"))]
    _child(home, children[0], None, "helper of the first")
    parent.end_step()
    parent.begin_step()
    parent.reply("Both are on it.")
    parent.end_turn()
    parent.later(20 * MINUTE_MS)
    settled = {"kind": "subagent-settled", "form": "notice", "senderSessionId": children[0].session_id}
    parent.prompt("A background subagent finished.", settled)
    work(parent, 1)
    home.keep(parent)

    parent = _started("one-shot", 3, NOTES, _when(11, 6, 30))
    parent.prompt("Have somebody count the open questions.")
    (call,) = parent.reply("", (_spawn("count"),))
    _child(home, parent, call, "count", mode="one-shot")
    parent.end_step()
    parent.begin_step()
    work(parent, 0)
    home.keep(parent)

    parent = _started("seeding", 0, BEACON, _when(3, 9, 15), OLD_FLASH)
    talk(parent, 2)
    child = Log(
        "seeded",
        version=0,
        cwd=BEACON,
        at_ms=parent.at_ms,
        model=OLD_FLASH,
        parent=parent,
        forked_at=parent.fork_point(),
        is_subagent=True,
    )
    child.open(label="forked helper", provider="fork", mode="one-shot")
    child.prompt("Go on from here and check the tests.")
    work(child, 2)
    home.keep(child)
    home.keep(parent)


def _spawn(task: str) -> tuple[str, str]:
    return "subagent", json.dumps({"description": task, "prompt": f"Do the {task}."})


def _child(home: Home, parent: Log, call: Call | None, label: str, *, mode: str = "continuable") -> Log:
    """A sub-agent's own log, and what its parent writes about it."""
    child = Log(
        f"child-{label}",
        version=parent.version,
        cwd=parent.cwd,
        at_ms=parent.at_ms + 900,
        model=parent.model,
        parent=parent,
        is_subagent=True,
    )
    child.open(label=label, mode=mode)
    child.prompt(f"Do your part: {label}.")
    work(child, 2)
    home.keep(child)
    if call is not None:
        listed = {"version": 0, "childId": child.session_id, "childCreatedAt": parent.at_ms + 900}
        parent.emit("subagent/catalog", listed | {"mode": mode, "label": label})
        is_done = mode == "one-shot"
        parent.answer(call, "Done: seven." if is_done else f"started subagent {child.session_id}")
    return child


def forks(home: Home) -> None:
    """The user branches off twice: after a turn, and while a tool was still running."""
    trunk = _started("trunk", 4, NOTES, _when(19, 15))
    talk(trunk, 2)
    after_turn = trunk.fork_point()
    trunk.prompt(PROMPTS[6])
    (call,) = trunk.reply("", (("bash", '{"command": "make all"}'),))
    while_running = trunk.fork_point([call])
    trunk.answer(call, "made all")
    trunk.end_step()
    trunk.begin_step()
    work(trunk, 1)
    home.keep(trunk)
    for name, point in (("branch", after_turn), ("early-branch", while_running)):
        at_ms = trunk.at_ms + 10 * MINUTE_MS
        fork = Log(name, version=4, cwd=NOTES, at_ms=at_ms, model=FLASH, parent=trunk, forked_at=point)
        fork.prompt("Try it the other way round.")
        work(fork, 2)
        home.keep(fork)


def killed_and_repaired(home: Home) -> None:
    """Two died while a tool ran, and one of them was opened again; a third died before its first line."""
    for name, day in (("killed", 11), ("repaired", 13)):
        log = _started(name, 4, BEACON, _when(day, 20))
        talk(log, 1)
        log.prompt(PROMPTS[1])
        open_calls = log.reply(
            "", (("bash", '{"command": "make test"}'), ("read", '{"file_path": "Makefile"}'))
        )
        if name == "repaired":
            log.answer(open_calls.pop(), "check: test")
            log.repair(open_calls)
            talk(log, 1)
        home.keep(log)
    nothing = home.out / "sessions" / workspace_folder(BEACON) / f"session-{log.new_id()}"
    nothing.mkdir()
    (nothing / "session.lock").touch()


def torn_tail(home: Home) -> None:
    log = _started("torn", 4, ATLAS, _when(20, 5))
    talk(log, 2)
    lost = Log("lost", version=4, cwd=ATLAS, at_ms=log.at_ms, model=FLASH)
    lost.seq, lost.turn = log.seq, log.turn
    lost.emit("turn/start", {"turn": log.turn + 1})
    lost.emit("step/start", {"turn": log.turn + 1, "step": 1})
    home.keep(log, torn=lost)


def plain_log(home: Home) -> None:
    log = _started("plain", 4, NOTES, _when(13, 4))
    talk(log, 2)
    home.keep(log, is_plain=True)


def two_generations(home: Home) -> None:
    """A v0 session that was continued by a newer harness: it converted the log and went on in the new one."""
    old = _started("lasting", 0, ATLAS, _when(4, 14), OLD_FLASH)
    talk(old, 2)
    new = _started("lasting", 4, ATLAS, _when(4, 14), OLD_FLASH)
    talk(new, 2)
    new.frames[1:] = [[line for batch in new.frames[1:] for line in batch]]
    new.at_ms = _when(16, 12)
    new.cached_tokens = 0
    new.select_model(FLASH)
    talk(new, 1)
    home.keep(old, is_superseded=True)
    home.keep(new)


def odd_events(home: Home) -> None:
    """Types that no harness writes, one that may be ignored and one that may not; a cancelled reply."""
    log = _started("odd", 4, BEACON, _when(19, 10))
    talk(log, 1)
    log.emit("lab/note", {"text": "an experiment"}, ignorable=True)
    log.emit("lab/marker", {"level": 3})
    log.flush()
    log.truth.counts["unknown_events"] += 2
    log.truth.counts["unknown_required_events"] += 1
    log.prompt(PROMPTS[7])
    log.interrupted_reply("There are")
    home.keep(log)


SCENES = (
    ordinary_sessions,
    retries,
    compaction,
    model_switch,
    families,
    forks,
    killed_and_repaired,
    torn_tail,
    plain_log,
    two_generations,
    odd_events,
)


def write_home(out: Path) -> dict[str, Any]:
    """Write the home to ``out``, which must not exist yet or be empty, and return its truth."""
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty")
    home = Home(out)
    for scene in SCENES:
        scene(home)
    return home.truth()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--truth", type=Path, help="default: demo_truth.json beside OUT")
    arguments = parser.parse_args()
    truth = json.dumps(write_home(arguments.out), indent=1, ensure_ascii=False) + "\n"
    beside = arguments.truth or arguments.out.resolve().parent / "demo_truth.json"
    beside.write_text(truth, encoding="utf-8")
    print(f"{arguments.out}: a synthetic home; what is true of it is in {beside}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
