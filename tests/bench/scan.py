"""How long a scan takes and how much memory, as ratios to decompressing the same files.

    make bench                                     # with the generator of ../shared
    python tests/bench/scan.py --generator PATH/make_big_home.py [--target-mb 300] [--runs 3]
    python tests/bench/scan.py --home HOME [--runs 3]

The floor is ``zstd -dc`` of every archive into ``wc -c``, measured in the same run, in turn with the
scans, so that the ratios hold when the machine's speed drifts. CPU is user + system of all processes,
memory the largest sum of their resident sizes, sampled. The table is Markdown; each figure is the median.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import dsh_lake

GENERATOR = Path(__file__).resolve().parents[3] / "shared" / "tools" / "make_big_home.py"
_SAMPLE_S = 0.02
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Runs:
    """What the runs of one command took."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    def add(
        self,
        command: list[str],
        *,
        environment: Mapping[str, str] | None = None,
        output: IO[bytes] | int = subprocess.DEVNULL,
    ) -> None:
        """Run the command once more; what it prints goes to ``output``."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        with subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.PIPE) as process:
            peak = _watch(process)
            _, errors = process.communicate()
            peak.stop()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}: {errors.decode()[-500:]}")
        self.wall_s.append(time.perf_counter() - began)
        self.cpu_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        self.memory_mb.append(peak.bytes / 1e6)


class _watch:
    """The largest resident size of a process and its children together."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.bytes = 0
        self._root = process.pid
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._is_over.wait(_SAMPLE_S):
            self.bytes = max(self.bytes, sum(map(_resident, _tree(self._root))))

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()


def _tree(root: int) -> list[int]:
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        with suppress(OSError):  # it has ended, or a thread of it
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                queue.extend(map(int, task.read_text().split()))
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def compile_package() -> None:
    """Keep the package's bytecode, as an installer does: else every process would compile it again."""
    folder = Path(dsh_lake.__file__).parent
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=True)


def _scan(home: Path, lake: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "dsh_lake.cli", "scan", str(home), "--lake", str(lake)]
    return [*command, "--format", "json", *options]


def _measure(home: Path, work: Path, runs: int, grow: Callable[[], None] | None) -> dict[str, Runs]:
    floor = ["sh", "-c", f"find '{home}/sessions' -name '*.zstd' -print0 | xargs -0 zstd -dcq | wc -c"]
    cases = ("zstd -dc \\| wc -c", "first scan", "first scan, --no-content", "unchanged rescan")
    taken = {case: Runs() for case in (*cases, "rescan after growth", "--help")}
    lake, bare = work / "lake", work / "bare"
    for _ in range(runs):
        taken[cases[0]].add(floor)
        shutil.rmtree(lake, ignore_errors=True)
        taken[cases[1]].add(_scan(home, lake))
        shutil.rmtree(bare, ignore_errors=True)
        taken[cases[2]].add(_scan(home, bare, "--no-content"))
        taken[cases[3]].add(_scan(home, lake))
        taken["--help"].add([sys.executable, "-m", "dsh_lake.cli", "--help"])
    for _ in range(runs if grow else 0):
        assert grow is not None
        grow()
        taken["rescan after growth"].add(_scan(home, lake))
    return {case: each for case, each in taken.items() if each.wall_s}


def _print(taken: dict[str, Runs], home: Path, lake: Path) -> None:
    floor, *_ = taken.values()
    cpu, wall = statistics.median(floor.cpu_s), statistics.median(floor.wall_s)
    print("| | wall s | CPU s | wall ÷ floor | CPU ÷ floor | peak MB, all processes |")
    print("|---|---|---|---|---|---|")
    for case, each in taken.items():
        case_wall, case_cpu = statistics.median(each.wall_s), statistics.median(each.cpu_s)
        memory = max(each.memory_mb)
        print(
            f"| {case} | {case_wall:.2f} | {case_cpu:.2f} | {case_wall / wall:.1f} "
            f"| {case_cpu / cpu:.1f} | {memory:.0f} |"
        )
    print(f"\narchives {_size(home) / 1e6:.1f} MB, lake {_size(lake) / 1e6:.1f} MB on disk")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", type=Path, help="an existing home, read only")
    parser.add_argument("--generator", type=Path, help="script that makes a home: GENERATOR make OUT ...")
    parser.add_argument("--target-mb", type=int, default=300, help="decompressed size of the home made")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    compile_package()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        home = options.home
        grow = None
        generator = options.generator or (None if home else GENERATOR)
        if generator:
            home = work / "home"
            make = [sys.executable, str(generator)]
            size = ["--target-mb", str(options.target_mb), "--format", "4"]
            subprocess.run([*make, "make", str(home), *size], check=True, stdout=subprocess.DEVNULL)

            def grow() -> None:
                appended = ["grow", str(home), "--every", "20", "--frames", "3"]
                subprocess.run([*make, *appended], check=True, stdout=subprocess.DEVNULL)

        _print(_measure(home, work, options.runs, grow), home, work / "lake")


if __name__ == "__main__":
    main()
