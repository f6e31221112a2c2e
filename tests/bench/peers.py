"""dsh-lake and other readers of DSH homes at the same work: time, memory, and whether the totals are true.

    python tests/bench/peers.py --path FOLDER ...        # where the peers' executables are, before $PATH
    python tests/bench/peers.py --slow                   # also those that take minutes
    python tests/bench/page.py peers --path FOLDER ...   # the same, written into BENCHMARKS.md

The home is made by ``../shared/tools/make_big_home.py``, which knows how many tokens it wrote. All programs
run in rounds, one after the other, so that the figures of one table belong together; each is the median,
memory the maximum. Every program has a home directory of its own, empty before each first run; an unchanged
run is the same command again; before a run after growth, frames were appended to every 20th file. What a
program says of tokens is compared with the truth after each of its runs. A program that is not there is named
below the table.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scan import GENERATOR, Runs, compile_package

CASES = ("first run", "unchanged", "after growth")
BUCKETS = ("input", "output", "cache_read", "cache_write")
VIBE_USAGE = "import(process.argv[1]).then(m=>m.parse()).then(r=>console.log(JSON.stringify(r)))"

Tokens = Mapping[str, int]


@dataclass(frozen=True)
class Program:
    """A program and how it is asked.

    Attributes:
        executable: what is looked for.
        version: arguments that print the version, or a command in full.
        command: the command, given the executable, the home and the program's state folder.
        tokens: what it says of tokens, by the buckets it has (``total`` where it tells no more); None where
            it speaks of none.
        is_slow: it takes minutes on the home of the default size.
        remark: what a reader of the table has to know.
    """

    name: str
    executable: str
    version: Callable[[Path], list[str]]
    command: Callable[[Path, Path, Path], list[str]]
    tokens: Callable[[bytes], Tokens | None] = lambda _: None
    is_slow: bool = False
    remark: str = ""


# -- the programs --------------------------------------------------------------------------------------------


def _dsh_lake(printed: bytes) -> Tokens:
    by_kind: Tokens = json.loads(printed)["tokens_by_kind"]["message"]
    return by_kind


def _tokscale(printed: bytes) -> Tokens:
    said = json.loads(printed)
    reasoning = sum(entry["reasoning"] for entry in said["entries"])
    return {
        "input": said["totalInput"],
        "output": said["totalOutput"] + reasoning,  # it keeps them apart
        "cache_read": said["totalCacheRead"],
        "cache_write": said["totalCacheWrite"],
    }


def _agentsview(printed: bytes) -> Tokens:
    said = json.loads(printed[printed.index(b"\n{") :])["totals"]
    return {
        "input": said["inputTokens"],
        "output": said["outputTokens"],
        "cache_read": said["cacheReadTokens"],
        "cache_write": said["cacheCreationTokens"],
    }


def _agentacct(printed: bytes) -> Tokens | None:
    said = json.loads(printed)["usage_totals"]
    if not any(said.values()):
        return None  # it tells what it has taken in, and that was nothing new
    return {
        "input": said["input_tokens"],
        "output": said["output_tokens"],
        "cache_read": said["cache_read_input_tokens"],
        "cache_write": said["cache_creation_input_tokens"],
    }


def _vibe_usage(printed: bytes) -> Tokens | None:
    buckets = json.loads(printed)["buckets"]
    if not buckets:
        return None
    parts = ("inputTokens", "outputTokens", "cachedInputTokens", "reasoningOutputTokens")
    return {"total": sum(bucket[part] for bucket in buckets for part in parts)}


def _asks_agentsview(executable: Path, _home: Path, _state: Path) -> list[str]:
    ask = ["usage", "daily", "--json", "--since", "2020-01-01", "--offline"]
    return ["sh", "-c", f"{shlex.join([str(executable), 'sync'])} && {shlex.join([str(executable), *ask])}"]


def _asks_vibe_usage(executable: Path, _home: Path, _state: Path) -> list[str]:
    parser = executable.resolve().parent.parent / "src" / "parsers" / "dsh.js"
    return ["node", "-e", VIBE_USAGE, parser.as_uri()]


def _asks_version(executable: Path) -> list[str]:
    return [str(executable), "--version"]


def _distribution(executable: Path) -> list[str]:
    """The version of a Python program that does not tell it."""
    ask = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    return [str(executable.with_name("python")), "-c", ask, executable.name]


def _package(executable: Path) -> list[str]:
    """The version of a program of Node's that would do more if it were asked."""
    folder = executable.resolve().parent.parent
    return ["node", "-p", f"require({json.dumps(str(folder / 'package.json'))}).version"]


PROGRAMS = (
    Program(
        "dsh-lake",
        sys.executable,
        lambda python: [str(python), "-m", "dsh_lake.cli", "--version"],
        lambda python, home, state: [
            *(str(python), "-m", "dsh_lake.cli", "scan", str(home)),
            *("--lake", str(state / "lake"), "--format", "json"),
        ],
        _dsh_lake,
        remark="keeps every row and text, for SQL",
    ),
    Program(
        "tokscale",
        "tokscale",
        _asks_version,
        lambda program, _home, _state: [str(program), "models", "-c", "dsh", "--json", "--no-spinner"],
        _tokscale,
        remark="totals by model alone; without network part of its first wall time is waiting for prices",
    ),
    Program("vibe-usage", "vibe-usage", _package, _asks_vibe_usage, _vibe_usage, remark="its parser alone"),
    Program(
        "agentacct",
        "agentacct",
        _asks_version,
        lambda program, home, state: [
            *(str(program), "usage", "import-local", "--store-dir", str(state / "store"), "--client", "dsh"),
            *("--dsh-home", str(home), "--limit-sessions", "200", "--json"),
        ],
        _agentacct,
        remark="reads at most 200 sessions",
    ),
    Program(
        "search-clanker-history",
        "search-clanker-history",
        _asks_version,
        lambda program, _home, _state: [
            *(str(program), "--agent", "dsh", "--tools", "--thinking", "-n", "3", "no_such_marker_zzz"),
        ],
        remark="a search of all text, no totals",
    ),
    Program(
        "causetrace",
        "causetrace",
        _distribution,
        lambda program, home, _state: [str(program), "enrich-dsh-sessions", "--dsh-home", str(home)],
        remark="a list of sessions, no totals; finds none of formats 3 and 4",
    ),
    Program(
        "agentsview",
        "agentsview",
        _asks_version,
        _asks_agentsview,
        _agentsview,
        is_slow=True,
        remark="keeps the text, for a local web page",
    ),
)


# -- the home ------------------------------------------------------------------------------------------------


class Home:
    """A home made by the generator, and the tokens that it holds by the generator's word."""

    def __init__(self, generator: Path, path: Path, target_mb: int, version: int) -> None:
        self.path = path
        self._generator = generator
        size = ("--target-mb", str(target_mb), "--format", str(version))
        self.facts = self._run("make", *size)
        self._own: Counter[str] = Counter(self.facts["usage"]["own"])

    def grow(self) -> None:
        """Append frames to every 20th file."""
        self._own.update(self._run("grow", "--every", "20", "--frames", "3")["usage"]["own"])

    def verdict(self, said: Tokens | None) -> str:
        """Whether the tokens are the ones of all answers, each once."""
        if said is None:
            return "none told"
        buckets = [name for name in BUCKETS if name in said] or ["total"]
        if all(said[name] == self._own[name] for name in buckets):
            return "exact"
        true = sum(self._own[name] for name in buckets)
        return f"{(sum(said[name] for name in buckets) - true) / true:+.2%}"

    def _run(self, action: str, *options: str) -> dict[str, Any]:
        command = [sys.executable, str(self._generator), action, str(self.path), *options]
        told: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        return told


# -- the runs ------------------------------------------------------------------------------------------------


@dataclass
class Contender:
    """A program that was found, and what its runs took."""

    program: Program
    executable: Path
    state: Path
    search_path: str
    version: str = ""
    fault: str = ""
    runs: dict[str, Runs] = field(default_factory=lambda: {case: Runs() for case in CASES})
    verdicts: dict[str, None] = field(default_factory=dict)

    def forget(self) -> None:
        """Remove all that the program keeps between runs."""
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(parents=True)

    def ask_version(self) -> None:
        """Let the program tell its version."""
        self.forget()
        command = self.program.version(self.executable)
        run = subprocess.run(command, env=self._environment(None), stdout=subprocess.PIPE, text=True)
        words = run.stdout.split()
        self.version = next((word.strip("v,;") for word in words if word.strip("v")[:1].isdigit()), "?")

    def run(self, case: str, home: Home) -> None:
        """Run the program once more, unless it failed before."""
        if self.fault:
            return
        command = self.program.command(self.executable, home.path, self.state)
        with tempfile.TemporaryFile() as printed:
            try:
                self.runs[case].add(command, environment=self._environment(home), output=printed)
            except SystemExit as error:
                self.fault = str(error).rpartition(": ")[2].strip() or "failed"
                return
            printed.seek(0)
            said = self.program.tokens(printed.read())
        self.verdicts[home.verdict(said)] = None

    def _environment(self, home: Home | None) -> dict[str, str]:
        """Nothing of the user's own settings; bytecode is kept, as where a program was installed."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("XDG_", "DSH_", "PYTHON", "AGENTSVIEW_"))
        }
        own = {"HOME": str(self.state), "PATH": self.search_path}
        quiet = {"AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_TELEMETRY": "0"}
        return {**kept, **own, **quiet, **({"DSH_HOME": str(home.path)} if home else {})}


def _find(folders: Sequence[Path], with_slow: bool, work: Path) -> tuple[list[Contender], list[str]]:
    """The programs that are there, and the names of those that are not."""
    search_path = os.pathsep.join([*(str(folder.resolve()) for folder in folders), os.environ["PATH"]])
    found, absent = [], []
    for program in PROGRAMS:
        if program.is_slow and not with_slow:
            absent.append(f"{program.name} (left out without --slow)")
        elif executable := shutil.which(program.executable, path=search_path):
            state = work / "state" / program.name
            found.append(Contender(program, Path(executable), state, search_path))
            found[-1].ask_version()
        else:
            absent.append(f"{program.name} (not found)")
    return found, absent


def _measure(contenders: Sequence[Contender], home: Home, runs: int) -> None:
    for _ in range(runs):
        for one in contenders:
            one.forget()
            one.run("first run", home)
            one.run("unchanged", home)
    for _ in range(runs):
        home.grow()
        for one in contenders:
            one.run("after growth", home)


# -- the table -----------------------------------------------------------------------------------------------


def _print(contenders: Sequence[Contender], absent: Sequence[str], home: Home) -> None:
    facts = home.facts
    print(
        f"A home of format {facts['args']['format']}: {facts['sessions']:,} sessions, "
        f"{facts['files']:,} files, "
        f"{facts['frames']:,} frames, {facts['lines']:,} lines, "
        f"{facts['decompressed_bytes'] / 1e6:,.0f} MB of text in "
        f"{facts['compressed_bytes'] / 1e6:,.0f} MB on disk.\n"
    )
    cells = "".join(f" {case}: wall s | CPU s | MB |" for case in CASES)
    print(f"| program |{cells} tokens |\n|---|{'---|' * 3 * len(CASES)}---|")
    for one in contenders:
        measured = "".join(_cells(one.runs[case]) for case in CASES)
        verdict = f"fails: {one.fault[:60]}" if one.fault else ", ".join(one.verdicts)
        print(f"| {one.program.name} {one.version} |{measured} {verdict} |")
    print("\nTokens: against the truth, after every run. MB: the largest sum of a run's processes, sampled.")
    for one in contenders:
        if one.program.remark:
            print(f"- {one.program.name}: {one.program.remark}")
    if absent:
        print(f"\nNot measured: {', '.join(absent)}.")


def _cells(runs: Runs) -> str:
    if not runs.wall_s:
        return " | | |"
    wall, cpu = statistics.median(runs.wall_s), statistics.median(runs.cpu_s)
    return f" {wall:.2f} | {cpu:.2f} | {max(runs.memory_mb):.0f} |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--path", type=Path, nargs="+", default=[], help="folders of the peers' executables")
    parser.add_argument("--slow", action="store_true", help="also the programs that take minutes")
    parser.add_argument("--generator", type=Path, default=GENERATOR, help="make_big_home.py of ../shared")
    parser.add_argument("--target-mb", type=int, default=300, help="decompressed size of the home")
    parser.add_argument("--format", type=int, default=4, choices=(4, 3, 0), help="of the home's archives")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    compile_package()
    with tempfile.TemporaryDirectory(prefix="dsh-lake-peers-") as folder:
        work = Path(folder)
        contenders, absent = _find(options.path, options.slow, work)
        home = Home(options.generator, work / "home", options.target_mb, options.format)
        _measure(contenders, home, options.runs)
        _print(contenders, absent, home)


if __name__ == "__main__":
    main()
