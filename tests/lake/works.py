"""What writes a lake, as processes that can be killed, starved or overtaken at any moment."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from dsh_lake.lake import Lake
from tests import logs

WORKS = {
    "first": "dsh_lake.scan(home, lake=lake, jobs=1)",
    "workers": "dsh_lake.scan(home, lake=lake, jobs=3)",
    "rescan": "dsh_lake.scan(home, lake=lake, jobs=3)",
    "full": "dsh_lake.scan(home, lake=lake, jobs=1, full=True)",
    "prune": "dsh_lake.scan(home, lake=lake, prune=True)",
    "compact": "dsh_lake.compact(lake, keep_days=0)",
}
"""Each work by name; those of ``FRESH`` begin with no lake, ``rescan`` with one of the home as it was."""
FRESH = ("first", "workers")

_PRELUDE = """
import sys
import deltalake, duckdb, pyarrow.parquet, dsh_lake
from dsh_lake.ingest import workers
workers._SMALL_BYTES = 0  # a home small enough for tests is read by workers all the same
home, lake = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
"""


def begin(code: str, home: Path, lake: Path, prelude: str = "") -> subprocess.Popen[bytes]:
    """A process that has loaded what it needs and does ``code`` once :func:`let_go` is called.

    Its stderr is a pipe.
    """
    command = [sys.executable, "-c", _PRELUDE + prelude + code, str(home), str(lake)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


def let_go(process: subprocess.Popen[bytes]) -> None:
    """Let a process that was begun start its work now."""
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdin.write(b"go\n")
    process.stdin.flush()


def small_home(root: Path, sessions: int = 8) -> None:
    """A home of a few sessions, calls and results."""
    for number in range(sessions):
        frames = [logs.frame(logs.header(f"s{number}"))]
        for seq in range(0, 60, 3):
            text = f"{number} {seq} " * 50
            call, result = logs.call(seq + 1, f"c{seq}"), logs.result(seq + 2, f"c{seq}")
            frames.append(logs.frame(logs.user(seq, text), call))
            frames.append(logs.frame(result))
        logs.log_path(root, f"s{number}").write_bytes(b"".join(frames))


def change_home(root: Path) -> None:
    """Everything that can happen to the files of :func:`small_home` until the next scan."""
    for number in (0, 1):
        with logs.log_path(root, f"s{number}").open("ab") as log:
            log.write(logs.frame(logs.user(60, "grown"), logs.call(61, "late")))
    with logs.log_path(root, "s1").open("ab") as log:
        log.write(logs.frame(logs.result(62, "late"))[:-3])
    rewritten = logs.frame(logs.header("s2")) + logs.frame(logs.user(0, "other"))
    logs.log_path(root, "s2").write_bytes(rewritten)
    shutil.rmtree(logs.log_path(root, "s3").parent)
    logs.log_path(root, "new").write_bytes(logs.frame(logs.header("new")) + logs.frame(logs.user(0, "new")))


def leftovers(lake: Path) -> list[str]:
    """Files that a writer began and no scan names: parts of batches that never were, half a catalog."""
    snapshot = Lake(lake).snapshot()
    newest = snapshot.batch if snapshot is not None else 0
    parts = [path for path in lake.rglob("part-*") if int(path.name.split("-")[1]) > newest]
    return [str(path) for path in [*parts, *lake.glob(".catalog*")]]
