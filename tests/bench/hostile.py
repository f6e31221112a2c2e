"""What files made to be costly cost: time and memory of ``dsh-lake scan`` on each, and what it says.

    python tests/bench/hostile.py [--case NAME ...] [--seconds 600]

Every case is one home with one file of a few kilobytes or megabytes on disk, scanned into a new lake by one
process. Wall and CPU in seconds, the largest resident size in MB, as the operating system counts them. The
table is Markdown. A scan that takes longer than ``--seconds`` is ended and reported as such.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import NamedTuple

import zstandard

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests import logs

MIB, GIB = 1 << 20, 1 << 30
LOG = "sessions/--w--/s/session.v4.jsonl.zstd"
CASSETTE = "x.cassette.jsonl"
MANIFEST = "fixtures/snapshot.yml"

Content = Iterator[bytes]


def _one_frame(parts: Iterable[bytes]) -> Content:
    """All parts in one frame, however long."""
    stream = zstandard.ZstdCompressor(level=1, write_checksum=True).compressobj()
    for part in parts:
        yield stream.compress(part)
    yield stream.flush()


def _lines_in_frames(lines: Iterable[bytes], frame_bytes: int = 32 * MIB) -> Content:
    """Lines, in frames of about so many bytes."""
    yield logs.frame(logs.header("s"))
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= frame_bytes:
            yield logs.frame(*held)
            held, size = [], 0
    yield logs.frame(*held)


def _repeated(part: bytes, total: int) -> Content:
    block = part * (MIB // len(part))
    for _ in range(total // len(block)):
        yield block


def _run_length(decoded: int) -> bytes:
    """A frame without a checksum that says how often one byte is repeated."""
    blocks = decoded >> 17
    run = ((1 << 17) << 3 | 1 << 1).to_bytes(3, "little") + b"x"
    return bytes.fromhex("28b52ffd0058") + run * blocks + (1).to_bytes(3, "little")


def _ordinary() -> Content:
    yield logs.frame(logs.header("s"), logs.user(0, "hello"))


def _bombs() -> Content:
    """A hundred frames of 64 KB that decode to 2 GiB each."""
    yield from _ordinary()
    bomb = _run_length(2 * GIB)
    for _ in range(100):
        yield bomb


def _largest_frame() -> Content:
    yield from _ordinary()
    yield _run_length(GIB)


def _long_line() -> Content:
    yield from _ordinary()
    for number in range(4):
        head = b'{"type":"user/message","seq":1,"data":{"text":"' if number == 0 else b""
        yield from _one_frame([head, *_repeated(b"x", GIB // 2)])
    yield from _one_frame([b'"}}\n', logs.user(2, "after")])


def _longest_line() -> Content:
    """Nearly as long as is read, and all of it escapes."""
    text = b'"text":"' + b"\\u00e9" * (10 * MIB) + b'"'
    yield from _lines_in_frames([logs.user(0, "").replace(b'"text":""', text)])


def _line_ends() -> Content:
    yield from _ordinary()
    yield from _one_frame(_repeated(b"\n", GIB))


def _spaces() -> Content:
    yield from _ordinary()
    yield from _one_frame(_repeated(b" \r\n", GIB // 2))


def _rejects() -> Content:
    """Ten million lines that are no events."""
    yield from _lines_in_frames(b"{}\n" * 1000 for _ in range(10_000))


def _events() -> Content:
    """A million events, ten to a frame would be usual."""
    yield from _lines_in_frames(logs.event("turn/end", seq, {}) for seq in range(1_000_000))


def _unknown_types() -> Content:
    """A million events of as many types."""
    yield from _lines_in_frames(logs.event(f"new/{seq}", seq, {}) for seq in range(1_000_000))


def _keys() -> Content:
    members = ",".join(f'"k{number}":{number}' for number in range(1_000_000)).encode()
    yield from _lines_in_frames([b'{"type":"user/message","seq":0,"time":1,"data":{' + members + b"}}\n"])


def _top_level_keys() -> Content:
    members = ",".join(f'"k{number}":{number}' for number in range(1_000_000)).encode()
    yield from _lines_in_frames([b'{"type":"user/message","seq":0,"time":1,' + members + b"}\n"])


def _deep(place: str) -> Callable[[], Content]:
    def content() -> Content:
        nested = "[" * 100_000 + "]" * 100_000
        line = {
            "data": b'{"type":"user/message","seq":0,"time":1,"data":%s}\n' % nested.encode(),
            "arguments": logs.call(0, "c", arguments=nested),
        }[place]
        yield from _lines_in_frames([line] * 20)

    return content


def _digits() -> Content:
    digits = b"9" * (8 * MIB)
    yield from _lines_in_frames(
        [
            b'{"type":"turn/end","seq":%s,"time":1,"data":{}}\n' % digits,
            logs.call(0, "c", arguments=digits.decode()),
        ]
    )


def _tiny_frames() -> Content:
    yield from _ordinary()
    for thousand in range(1000):
        yield b"".join(logs.frame(logs.event("turn/end", 1000 * thousand + at, {})) for at in range(1000))


def _empty_frames() -> Content:
    yield from _ordinary()
    empty = logs.frame()
    for _ in range(1000):
        yield empty * 1000


def _skippable_frames() -> Content:
    yield from _ordinary()
    for _ in range(1000):
        yield bytes.fromhex("502a4d1800000000") * 1000


def _false_starts() -> Content:
    """Magic numbers that begin no frame that decodes."""
    yield from _ordinary()
    for _ in range(16):
        yield bytes.fromhex("28b52ffd00") * (MIB // 5)


def _packed_members() -> Content:
    data = {"texts": ["x"] * 1_000_000, "dt": [0] * 999_999, "turn": 1, "step": 1}
    yield from _lines_in_frames([logs.line({"type": "text-chunks", "seq0": 0, "time0": 1, "data": data})])


def _titles() -> Content:
    yield from _lines_in_frames(logs.event("session/title", seq, {"title": "x" * MIB}) for seq in range(100))


def _cassette_line() -> Content:
    yield b'{"kind":"cassette/header","x":"'
    yield from _repeated(b"x", GIB)


def _cassette_lines() -> Content:
    yield from _repeated(b"{}\n", 16 * MIB)


def _aliases() -> Content:
    yield b"a: &a [x]\n"
    for number in range(40_000):
        before = "a" if number == 0 else f"a{number - 1}"
        yield f"a{number}: &a{number} [{', '.join([f'*{before}'] * 9)}]\n".encode()


def _flow() -> Content:
    yield b"version: 1\nprofile: " + b"[" * 2_000_000


class Case(NamedTuple):
    """A file of a home, and what is in it."""

    path: str
    content: Callable[[], Content]


CASES = {
    "an ordinary log": Case(LOG, _ordinary),
    "100 frames of 2 GiB each": Case(LOG, _bombs),
    "a frame of 1 GiB, one line": Case(LOG, _largest_frame),
    "a line of 2 GiB in 4 frames": Case(LOG, _long_line),
    "a line of 60 MiB of escapes": Case(LOG, _longest_line),
    "1 GiB of LF in a frame": Case(LOG, _line_ends),
    "512 MiB of blank lines with CR": Case(LOG, _spaces),
    "10 million lines that are no events": Case(LOG, _rejects),
    "a million events": Case(LOG, _events),
    "a million types of events": Case(LOG, _unknown_types),
    "a million keys in data": Case(LOG, _keys),
    "a million keys beside data": Case(LOG, _top_level_keys),
    "100,000 levels in data, 20 times": Case(LOG, _deep("data")),
    "100,000 levels in arguments, 20 times": Case(LOG, _deep("arguments")),
    "numbers of 8 million digits": Case(LOG, _digits),
    "a million frames of a line": Case(LOG, _tiny_frames),
    "a million empty frames": Case(LOG, _empty_frames),
    "a million skippable frames": Case(LOG, _skippable_frames),
    "16 MiB of false starts of frames": Case(LOG, _false_starts),
    "a packed row of a million members": Case(LOG, _packed_members),
    "100 titles of 1 MiB": Case(LOG, _titles),
    "a cassette of one line of 1 GiB": Case(CASSETTE, _cassette_line),
    "a cassette of 5 million bad lines": Case(CASSETTE, _cassette_lines),
    "a manifest of 40,000 nested aliases": Case(MANIFEST, _aliases),
    "a manifest of 2 million levels": Case(MANIFEST, _flow),
}


class Measured(NamedTuple):
    """What a scan took; ``said`` is None when it was ended before its time."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    exit_code: int
    said: str


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--case", action="append", choices=CASES, help="default: all")
    parser.add_argument("--seconds", type=float, default=600.0)
    arguments = parser.parse_args()
    print("| case | on disk | wall | CPU | peak MB | reported |\n| --- | ---: | ---: | ---: | ---: | --- |")
    for name in arguments.case or CASES:
        folder = Path(tempfile.mkdtemp(prefix="dsh-lake-hostile-"))
        try:
            size = _write(folder / "home", CASES[name])
            found = _scan(folder, arguments.seconds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        figures = f"{found.wall_s:.1f} s | {found.cpu_s:.1f} s | {found.peak_mb:.0f}"
        print(f"| {name} | {_size(size)} | {figures} | {found.said} |", flush=True)
    return 0


def _write(home: Path, case: Case) -> int:
    path = home / case.path
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        for part in case.content():
            file.write(part)
    return path.stat().st_size


def _scan(folder: Path, seconds: float) -> Measured:
    command = [
        sys.executable,
        "-m",
        "dsh_lake.cli",
        "scan",
        str(folder / "home"),
        "--lake",
        str(folder / "lake"),
    ]
    began = time.perf_counter()
    process = Popen([*command, "--format", "json", "--jobs", "1", "--quiet"], stdout=PIPE, stderr=PIPE)
    guard = threading.Timer(seconds, process.kill)
    guard.start()
    assert process.stdout is not None and process.stderr is not None
    out, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    guard.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    peak_mb = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    said = _said(out) if process.returncode == 0 else f"**exit {process.returncode}** {_last_line(errors)}"
    return Measured(wall, usage.ru_utime + usage.ru_stime, peak_mb, process.returncode, said)


def _said(out: bytes) -> str:
    found = json.loads(out)
    codes = Counter(finding["code"] for finding in found["findings"])
    counts = ", ".join(f"{count:,} {code}" for code, count in codes.most_common())
    return f"{found['events']:,} events, {found['lines']:,} lines; {counts or 'no findings'}"


def _last_line(errors: bytes) -> str:
    return (errors.decode(errors="replace").strip().splitlines() or [""])[-1][:100]


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} KB"


if __name__ == "__main__":
    sys.exit(main())
