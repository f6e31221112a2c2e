"""What a fuzzer begins with: the project's own fixtures and demo home, as bytes for each target."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from demo_home import write_home
from dsh_lake.frames import FileBytes, PieceKind, looks_like_zstd, read_frames
from dsh_lake.records.session import KNOWN_TYPES
from tests import logs
from tests.fixtures_kit.made import SOUND
from tests.strategies_frames import data_frame, skippable_frame

_CASSETTES = Path(__file__).parent.parent / "fixtures" / "cassettes"
_LARGEST = 64 << 10
"""Longer seeds are cut: a fuzzer that changes one byte at a time gets nowhere in them."""


def seeds(target: str) -> list[bytes]:
    """The first inputs for a target."""
    return [seed[:_LARGEST] for seed in _SEEDS[target]()]


def words() -> list[bytes]:
    """What a fuzzer may put in wherever it likes: what readers look for."""
    members = "type seq time data version id turn step message content usage stream callId name arguments"
    tokens = [f'"{name}"' for name in (*members.split(), *sorted(KNOWN_TYPES))]
    marks = ["\ufeff", "\\ud800", "\\u0000", "1e400", "-0", "NaN", "9007199254740993", "null"]
    marks += ["../", "->", "&a ", "*a"]
    magic = [bytes.fromhex("28b52ffd"), bytes.fromhex("502a4d18")]
    return [*(token.encode() for token in (*tokens, *marks)), *magic]


def _home_files() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_home(Path(folder) / "home")
        return [path.read_bytes() for path in sorted(Path(folder).rglob("session*.jsonl*"))]


def _texts() -> Iterator[bytes]:
    """The text of the demo home's logs, and one line of each type."""
    with tempfile.TemporaryDirectory() as folder:
        write_home(Path(folder) / "home")
        for path in sorted(Path(folder).rglob("session*.jsonl*")):
            with FileBytes(path) as source:
                if not looks_like_zstd(source.read_at(0, 64)):
                    yield source.read_at(0, source.size)
                    continue
                pieces = read_frames(source)
                yield b"".join(piece.text for piece in pieces if piece.kind is PieceKind.TEXT)
    for kind in sorted(KNOWN_TYPES):
        yield logs.header("s") + logs.event(kind, 0, {"turn": 1, "step": 1, "message": {"content": []}})


def _frames() -> Iterator[bytes]:
    text = logs.header("s") + logs.user(0, "hello")
    for has_size in (True, False):
        for has_checksum in (True, False):
            one = data_frame([text, text], has_size=has_size, has_checksum=has_checksum)
            yield one
            yield one + skippable_frame(b"note") + one[:-3]
    yield from _home_files()


def _archives() -> Iterator[bytes]:
    yield from _frames()
    yield from _short_texts()


def _short_texts() -> list[bytes]:
    return [text[: text.rfind(b"\n", 0, 8000) + 1] for text in _texts()]


def _json() -> Iterator[bytes]:
    for path in sorted((_CASSETTES / "vectors").glob("*.json")):
        yield path.read_bytes()
    yield from (line for text in _short_texts()[:12] for line in text.splitlines()[:4])
    yield b'[1e400,-0,0.1,1E5,"\\ud83d\\ude00\\ud800"]'
    yield b'{"b":1,"a":[[[{}]]],"b":null}'
    yield b"[" * 250 + b"]" * 250


def _cassettes() -> Iterator[bytes]:
    for path in sorted(_CASSETTES.rglob("*.cassette.jsonl")):
        yield path.read_bytes()


def _manifests() -> Iterator[bytes]:
    yield from (text.encode() for path, text in SOUND.items() if path.endswith("snapshot.yml"))
    yield json.dumps({"version": 1, "profile": "web", "input": {"task": "x"}}).encode()
    yield b"version: 1\nprofile: &a web\nscenario: *a\nenvironment: {A: 'x'}\n? [a, b]\n: !!str 1\n"


def _fixture_logs() -> Iterator[bytes]:
    yield from (text.encode() for path, text in SOUND.items() if path.endswith(".jsonl"))
    yield from _short_texts()


def _names() -> Iterator[bytes]:
    log = b"sessions/--w--/s/session.v4.jsonl"
    yield log
    yield log + b"\0sessions/--w--/up->../../..\0loop->.\0x/session.jsonl->../../session.v4.jsonl"
    yield b"a\nb/\x1b[2J/session.v2.jsonl.zstd\0\xff\xfe/session.jsonl\0\xe2\x80\xae/snapshot.yml"
    yield b"x/session.jsonl->../../session.v4.jsonl\0y/session.jsonl->../x/session.jsonl\0y->.."
    yield b"c:\\x/session.jsonl\0 /session.jsonl\0sessions/_no-cwd/a/session.v99999999999999999999.jsonl"


_SEEDS: dict[str, Callable[[], list[bytes] | Iterator[bytes]]] = {
    "frames": _frames,
    "archives": _archives,
    "lines": _short_texts,
    "sessions": _short_texts,
    "canonical": _json,
    "cassettes": _cassettes,
    "manifests": _manifests,
    "fixture-logs": _fixture_logs,
    "names": _names,
}
