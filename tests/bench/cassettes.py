"""How long cassettes take and how much memory, as ratios to a digest and to a JSON pass over the same file.

    python tests/bench/cassettes.py                      # with the generator of ../shared
    python tests/bench/cassettes.py --generator PATH/gen_large.py [--calls 200000] [--files 10000] [--runs 3]

The floors, ``sha256sum`` and one ``json.loads`` a line, are measured in the same run, in turn with the
commands. The table is Markdown; each figure is the median.
"""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from scan import Runs, compile_package

GENERATOR = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "cassettes" / "gen_large.py"
CALLS_PER_FILE = 20
JSON_PASS = "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_large", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _make_pair(generator: Path, folder: Path, calls: int) -> tuple[Path, Path]:
    paths = folder / "a.cassette.jsonl", folder / "b.cassette.jsonl"
    for path, options in zip(paths, ([], ["--drift"]), strict=True):
        command = [sys.executable, str(generator), "many", str(path), "--n", str(calls), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return paths


def _make_many(generator: Path, folder: Path, files: int) -> Path:
    made = _module(generator)
    tree = folder / "many"
    for number in range(files):
        header = made.header("metadata", f"small-{number}")
        lines, previous = [made.seal(header)], header["hash"]
        for record in made.calls(CALLS_PER_FILE, number, "metadata", 0):
            record["previousHash"] = previous
            lines.append(made.seal(record))
            previous = record["hash"]
        path = tree / f"{number // 500:03}" / f"{number}.cassette.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
    return tree


def _command(*arguments: object) -> list[str]:
    """A cassette command whose exit code for differences is as good as 0."""
    command = shlex.join([sys.executable, "-m", "dsh_lake.cli", "cassette", *map(str, arguments)])
    return ["sh", "-c", f"{command} || test $? = 2"]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--generator", type=Path, default=GENERATOR)
    parser.add_argument("--calls", type=int, default=200_000, help="calls of the large cassettes")
    parser.add_argument("--files", type=int, default=10_000, help=f"cassettes of {CALLS_PER_FILE} calls")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    compile_package()
    with tempfile.TemporaryDirectory() as folder:
        expected, actual = _make_pair(options.generator, Path(folder), options.calls)
        tree = _make_many(options.generator, Path(folder), options.files)
        cases = {
            "sha256sum": ["sha256sum", str(expected)],
            "json.loads of every line": [sys.executable, "-c", JSON_PASS, str(expected)],
            "verify": _command("verify", expected),
            "inspect --show-calls": _command("inspect", expected, "--show-calls"),
            "diff": _command("diff", expected, actual),
            "diff --json": _command("diff", expected, actual, "--json"),
            f"verify, {options.files:,} files": _command("verify", tree),
        }
        taken = {name: Runs() for name in cases}
        for _ in range(options.runs):
            for name, command in cases.items():
                taken[name].add(command)
        _print(taken)
        print(f"\n{options.calls:,} calls, {expected.stat().st_size / 1e6:.0f} MB a large cassette")


def _print(taken: dict[str, Runs]) -> None:
    digest, parse, *_ = (statistics.median(each.cpu_s) for each in taken.values())
    print("| | wall s | CPU s | CPU ÷ sha256sum | CPU ÷ json | peak MB, all processes |")
    print("|---|---|---|---|---|---|")
    for name, each in taken.items():
        wall, cpu = statistics.median(each.wall_s), statistics.median(each.cpu_s)
        memory = max(each.memory_mb)
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {cpu / digest:.1f} | {cpu / parse:.1f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
