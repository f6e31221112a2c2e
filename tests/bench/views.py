"""How long every view takes over a lake, and how much memory.

    python tests/bench/views.py --lake LAKE [--only NAME ...]
    python tests/bench/views.py --events 10000000     # makes a home and its lake; see --generator

Each view is asked in a process of its own, twice: *cold* is the first time in a new connection (the files may
be in the system's cache), *warm* the second. All rows are fetched, in batches. Memory is the largest resident
size of that process, interpreter and libraries included. The table is Markdown.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsh_lake

GENERATOR = Path(__file__).resolve().parents[3] / "shared" / "tools" / "make_big_home.py"
MB_PER_MILLION_EVENTS = 1550
"""Decoded text that the generator makes: 296 MB for 191,033 events. On disk it is 0.4 of it."""


def main() -> None:
    arguments = _arguments()
    if arguments.one is not None:
        print(json.dumps(_measure(arguments.lake, arguments.one)))
        return
    names = arguments.only or [one["name"] for one in dsh_lake.views() if one["kind"] == "view"]
    if arguments.lake is not None:
        _print_table(arguments.lake, names)
        return
    with tempfile.TemporaryDirectory(prefix="dsh-lake-bench-") as folder:
        _print_table(_make_lake(Path(folder), arguments), names)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lake", type=Path, help="a lake that is there")
    parser.add_argument("--events", type=int, default=1_000_000, help="about how many events to make")
    parser.add_argument("--generator", type=Path, default=GENERATOR, help="make_big_home.py of ../shared")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these views and no others")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    return parser.parse_args()


def _make_lake(folder: Path, arguments: argparse.Namespace) -> Path:
    megabytes = max(1, arguments.events * MB_PER_MILLION_EVENTS // 1_000_000)
    home, lake = folder / "home", folder / "lake"
    command = [sys.executable, str(arguments.generator), "make", str(home), "--target-mb", str(megabytes)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    dsh_lake.scan(home, lake=lake)
    return lake


def _print_table(lake: Path, names: list[str]) -> None:
    ((events, calls),) = (
        dsh_lake.connect(lake)
        .execute("select (select count(*) from events), (select count(*) from billed_usage)")
        .fetchall()
    )
    print(f"{events:,} events, {calls:,} billed calls\n", flush=True)
    print("| view | rows | cold s | warm s | peak MB |\n|---|---|---|---|---|", flush=True)
    for found in _measurements(lake, names):
        print(
            f"| {found['view']} | {found['rows']:,} | {found['cold_s']:.2f} | {found['warm_s']:.2f} "
            f"| {found['peak_mb']:,.0f} |",
            flush=True,
        )


def _measurements(lake: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        command = [sys.executable, __file__, "--lake", str(lake), "--one", name]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        yield json.loads(run.stdout)


def _measure(lake: Path, name: str) -> dict[str, Any]:
    """Ask one view twice, in this process."""
    with dsh_lake.connect(lake) as connection:
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            reader = connection.sql(f'from "{name}"').to_arrow_reader(65_536)
            rows = sum(batch.num_rows for batch in reader)
            seconds.append(time.perf_counter() - began)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "view": name,
        "rows": rows,
        "cold_s": seconds[0],
        "warm_s": seconds[1],
        "peak_mb": peak_kb / 1024,
    }


if __name__ == "__main__":
    main()
