"""What goes on beside a scan, as processes of their own: ``python -m tests.lake.live ROLE HOME LAKE STOP``.

Each makes a file named for its role beside STOP when it begins, goes on until STOP is there, and prints one
number: the events written, the readings made, the works done. What it must not see ends it with an error.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from dsh_lake import connect, scan
from dsh_lake.compact import compact
from dsh_lake.errors import LakeBusy
from tests import logs


class Session:
    """A session as DSH keeps one: batches that are synced, now and then a torn tail and its repair."""

    def __init__(self, home: Path, name: str, version: int, suffix: str) -> None:
        self._home, self._name, self._version, self._suffix = home, name, version, suffix
        self.events = 0
        self._append(self._path, self._wrap([logs.header(name, version)]))

    @property
    def _path(self) -> Path:
        return logs.log_path(self._home, self._name, version=self._version, suffix=self._suffix)

    def _wrap(self, lines: list[bytes]) -> bytes:
        return logs.frame(*lines) if self._suffix else b"".join(lines)

    @staticmethod
    def _append(path: Path, content: bytes) -> None:
        with path.open("ab") as log:
            log.write(content)
            log.flush()
            os.fsync(log.fileno())

    def _lines(self, count: int) -> list[bytes]:
        kinds: list[Callable[[int], bytes]] = [
            lambda seq: logs.user(seq, "héllo " * 40),
            lambda seq: logs.assistant(seq, 1, seq, 7),
            lambda seq: logs.call(seq, f"c{seq}"),
            lambda seq: logs.result(seq, f"c{seq - 1}"),
        ]
        lines = [kinds[seq % 4](seq) for seq in range(self.events, self.events + count)]
        self.events += count
        return lines

    def append(self, count: int) -> None:
        """One durable append."""
        self._append(self._path, self._wrap(self._lines(count)))

    def tear_and_repair(self, count: int, pause_s: float) -> None:
        """Die within an append; later drop the torn part and write the lines again."""
        content = self._wrap(self._lines(count))
        whole = self._path.stat().st_size
        self._append(self._path, content[: len(content) // 2])
        time.sleep(pause_s)
        os.truncate(self._path, whole)
        self._append(self._path, content)

    def migrate(self) -> None:
        """All events in one frame of a file of the next generation, which then takes its place beside."""
        count, self.events, self._version = self.events, 0, self._version + 1
        unfinished = self._path.with_name(f"session.migration.x.jsonl{self._suffix}.tmp")
        self._append(unfinished, self._wrap([logs.header(self._name, self._version)]))
        self._append(unfinished, self._wrap(self._lines(count)))
        unfinished.replace(self._path)


def write(home: Path, lake: Path, stop: Path) -> int:
    """Sessions that grow without pause; how many events they have at the end."""
    noise = random.Random()
    sessions = [Session(home, "framed", 4, ".zstd"), Session(home, "plain", 4, "")]
    older: list[Session] = []
    while not stop.exists():
        act = noise.random()
        session = noise.choice([*sessions, *older])
        if act < 0.8:
            session.append(noise.randint(1, 8))
        elif act < 0.9:
            session.tear_and_repair(noise.randint(1, 8), noise.uniform(0, 0.5))
        elif act < 0.95 and older:
            migrated = older.pop()
            migrated.migrate()
            sessions.append(migrated)
        elif len(sessions) < 200:
            older.append(Session(home, f"s{len(sessions)}-{len(older)}-{time.time_ns()}", 3, ".zstd"))
        time.sleep(noise.uniform(0, 0.05))
    return sum(session.events for session in [*sessions, *older])


_COUNTS = """
select (select counts from scans order by batch desc limit 1),
    (select count(*) from events where not is_recovered),
    (select count(*) from tool_calls where not is_recovered),
    (select count(*) from messages where role = 'user' and not is_recovered),
    (select count(*) from sessions)
"""


def _check(connection: duckdb.DuckDBPyConnection) -> None:
    """All tables answer as of the scan whose own summary is the newest."""
    for _ in range(2):
        ((told, *counted),) = connection.execute(_COUNTS).fetchall()
        counts = json.loads(told)
        expected = [counts[name] for name in ("events", "tool_calls", "user_messages", "sessions")]
        assert counted == expected, (counted, expected)
        time.sleep(0.05)


def _read_connected(lake: Path) -> None:
    with connect(lake) as connection:
        _check(connection)


def _read_catalog(lake: Path) -> None:
    with duckdb.connect(os.fspath(lake / "catalog.duckdb"), read_only=True) as connection:
        _check(connection)


def _read_delta(lake: Path) -> None:
    """Another engine, at the versions that the newest scan names: each file has as many rows as told."""

    def table(name: str, version: int | None = None) -> pa.Table:
        return pa.table(DeltaTable(lake / "tables" / name, version=version).to_pyarrow_table())

    newest = max(table("scans").to_pylist(), key=lambda row: row["batch"])
    versions = json.loads(newest["table_versions"])
    events = table("events", versions["events"]).select(["source_key", "batch", "is_tail"])
    for source in table("sources", versions["sources"]).to_pylist():
        if source["state"] in ("ok", "partial"):
            current = (
                (pc.field("source_key") == source["source_key"])
                & (pc.field("batch") >= source["first_batch"])
                & (pc.field("batch") <= source["last_batch"])
                & ~pc.field("is_tail")
            )
            assert events.filter(current).num_rows == source["events"], source["path"]


def read(home: Path, lake: Path, stop: Path) -> int:
    """Questions without pause, in each way that there is; how many."""
    return _repeat(cycle([_read_connected, _read_catalog, _read_delta]), lake, stop)


def rival(home: Path, lake: Path, stop: Path) -> int:
    """Scans and compactions that get in the way; how many were not told that the lake is busy."""

    def pause(_: Path) -> None:
        time.sleep(random.uniform(0.1, 1))  # or nobody else would ever come to write

    return _repeat(cycle([lambda to: scan(home, lake=to), pause, compact, pause]), lake, stop)


def _repeat(works: Iterator[Callable[[Path], object]], lake: Path, stop: Path) -> int:
    done = 0
    while not stop.exists():
        try:
            next(works)(lake)
            done += 1
        except LakeBusy:
            time.sleep(0.01)
    return done


if __name__ == "__main__":
    role, *paths = sys.argv[1:]
    Path(paths[-1]).with_name(role).touch()
    print({"write": write, "read": read, "rival": rival}[role](*map(Path, paths)))
