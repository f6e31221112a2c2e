"""How long every view and check takes over a lake, and how much memory.

    python tests/bench/views.py --lake LAKE [--only NAME ...]
    python tests/bench/views.py --events 10000000     # makes a home, scans it, copies its rows: copies.py

Each is asked in a process of its own, twice: *cold* is the first time in a new connection (the files may be
in the system's cache), *warm* the second, with the time of all processors beside it: on a machine that does
other things too, half of that is what two quiet ones would take. All rows are fetched as Arrow batches, none
is made a Python object; views with as many rows as there are calls or steps so pay for every one of them,
which a question with a filter or a sum does not. Memory is the largest resident size of that process,
interpreter and libraries included. The table is Markdown.
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
from dsh_lake.catalog_file import CatalogBuilder
from dsh_lake.engine import Connection, connect_catalog

sys.path.insert(0, str(Path(__file__).resolve().parent))
from copies import copy_lake

GENERATOR = Path(__file__).resolve().parents[3] / "shared" / "tools" / "make_big_home.py"
EVENTS_MADE, MB_MADE = 191_033, 296
"""What the generator is asked for: decoded text, and the events in it. More events are copies of these."""


def main() -> None:
    arguments = _arguments()
    if arguments.one is not None:
        print(json.dumps(_measure(arguments.lake, arguments.one)))
        return
    names = arguments.only or [one["name"] for one in dsh_lake.views() if one["kind"] in ("view", "check")]
    if arguments.lake is not None:
        _print_table(arguments.lake, names)
        return
    with tempfile.TemporaryDirectory(prefix="dsh-lake-bench-") as folder:
        _print_table(_make_lake(Path(folder), arguments), names)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lake", type=Path, help="a lake that is there, or one of its catalogs")
    parser.add_argument("--events", type=int, default=1_000_000, help="about how many events to make")
    parser.add_argument("--generator", type=Path, default=GENERATOR, help="make_big_home.py of ../shared")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these views and no others")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    return parser.parse_args()


def _make_lake(folder: Path, arguments: argparse.Namespace) -> Path:
    """The catalog of a lake of about so many events."""
    home, lake = folder / "home", folder / "lake"
    command = [sys.executable, str(arguments.generator), "make", str(home), "--target-mb", str(MB_MADE)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    dsh_lake.scan(home, lake=lake)
    files = copy_lake(lake, folder / "copies", max(1, round(arguments.events / EVENTS_MADE)))
    catalog = folder / "catalog.duckdb"
    CatalogBuilder(catalog, files).finish(files, {})
    return catalog


def _connect(lake: Path) -> Connection:
    return connect_catalog(lake) if lake.is_file() else dsh_lake.connect(lake)


def _print_table(lake: Path, names: list[str]) -> None:
    with _connect(lake) as connection:
        ((events, calls),) = connection.execute(
            "select (select count(*) from events), (select count(*) from billed_usage)"
        ).fetchall()
    print(f"{events:,} events, {calls:,} billed calls\n", flush=True)
    print("| view | rows | cold s | warm s | warm CPU s | peak MB |\n|---|---|---|---|---|---|", flush=True)
    for found in _measurements(lake, names):
        print(
            f"| {found['view']} | {found['rows']:,} | {found['cold_s']:.2f} | {found['warm_s']:.2f} "
            f"| {found['warm_cpu_s']:.2f} | {found['peak_mb']:,.0f} |",
            flush=True,
        )


def _measurements(lake: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        command = [sys.executable, __file__, "--lake", str(lake), "--one", name]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        yield json.loads(run.stdout)


def _measure(lake: Path, name: str) -> dict[str, Any]:
    """Ask one view twice, in this process."""
    with _connect(lake) as connection:
        seconds = []
        for _ in range(2):
            began, began_cpu = time.perf_counter(), time.process_time()
            reader = connection.sql(f'from "{name}"').to_arrow_reader(65_536)
            rows = sum(batch.num_rows for batch in reader)
            seconds.append((time.perf_counter() - began, time.process_time() - began_cpu))
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (cold_s, _), (warm_s, warm_cpu_s) = seconds
    return {
        "view": name,
        "rows": rows,
        "cold_s": cold_s,
        "warm_s": warm_s,
        "warm_cpu_s": warm_cpu_s,
        "peak_mb": peak_kb / 1024,
    }


if __name__ == "__main__":
    main()
