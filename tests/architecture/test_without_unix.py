"""What Windows has not is not needed there: every module is imported, and a home scanned, with it hidden."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from demo_home import write_home

HIDDEN = """
import os, signal, sys, types
os.supports_dir_fd.clear()  # before it is asked for by those who would make use of it
# What belongs to Python and to the libraries is there on Windows in its own form: it is loaded first.
import asyncio, multiprocessing, shutil, subprocess, tempfile, zoneinfo
import deltalake, duckdb, jinja2, msgspec, platformdirs, pyarrow.parquet, pytest, typer, yaml, zstandard
import rich.console, rich.progress
import altair, vl_convert

for name in ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for name in '''
    O_CLOEXEC O_DIRECTORY O_DSYNC O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC O_TMPFILE
    chown chroot fchdir fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp
    getpriority getsid getuid killpg lchown lockf mkfifo mknod nice openpty posix_fadvise posix_fallocate
    posix_spawn pread preadv pwrite register_at_fork sched_getaffinity setsid setuid statvfs sync sysconf
    sysconf_names tcgetpgrp uname wait wait3 wait4
'''.split():
    if hasattr(os, name):
        delattr(os, name)
for name in "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH".split():
    if hasattr(signal, name):
        delattr(signal, name)
sys.modules["msvcrt"] = types.SimpleNamespace(locking=lambda *_: None, LK_NBLCK=2, LK_UNLCK=0)
sys.platform = "win32"
"""

WORK = """
import importlib, pkgutil
import dsh_lake
for module in pkgutil.walk_packages(dsh_lake.__path__, "dsh_lake."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
home, lake = sys.argv[1:]
for _ in range(2):
    print(dsh_lake.scan(home, lake=lake, jobs=1)["sessions"])
print(len(dsh_lake.sql("from sessions", lake=lake)))
"""


def test_all_is_imported_and_a_home_is_scanned_and_asked(project_root: Path, tmp_path: Path) -> None:
    sessions = write_home(tmp_path / "home")["sessions"]
    command = [sys.executable, "-c", HIDDEN + WORK, str(tmp_path / "home"), str(tmp_path / "lake")]
    run = subprocess.run(command, cwd=project_root, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    assert [int(count) for count in run.stdout.split()] == [sessions] * 3
