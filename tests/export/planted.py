"""Homes in which every text holds a mark that can be looked for: what of it is still in a shared lake?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from demo_home import write_home
from logs import event, frame, header
from tests.cassette import made

MARK = "canary"
NAMES = frozenset(("type", "name", "provider", "model", "code", "version"))
"""Members whose texts stay by decision: names of tools, models, providers, types and errors."""
WORDS = frozenset(
    (
        "kind",
        "role",
        "reason",
        "status",
        "mode",
        "outcome",
        "cause",
        "origin",
        "surfaceOp",
        "stopReason",
        "plugin",
    )
)
"""Members with words of the producer: what they mean depends on them."""


def write_planted(folder: Path, *, words: bool) -> Path:
    """The demo home with a mark in every text, damaged logs and cassettes; a mark in words too, if asked."""
    home = folder / f"{MARK} home"
    write_home(home)
    for log in sorted(home.glob("sessions/*/*/session*")):
        _plant(log, NAMES if words else NAMES | WORDS)
    for session in sorted(home.glob("sessions/*/*")):
        session.rename(session.with_name(f"{session.name}~{MARK}"))
    for workspace in sorted(home.glob("sessions/*")):
        workspace.rename(workspace.with_name(f"--{MARK}{workspace.name}"))
    _write_damaged(home)
    _write_cassettes(home)
    return home


def _plant(log: Path, kept: frozenset[str]) -> None:
    content = log.read_bytes()
    is_plain = log.suffix != ".zstd"
    text = (
        content
        if is_plain
        else zstandard.ZstdDecompressor().decompressobj(read_across_frames=True).decompress(content)
    )
    lines = [json.loads(line) for line in text.splitlines() if line.endswith(b"}")]
    marked = [_marked(line, "", kept) for line in lines]
    written = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in marked)
    log.write_bytes(written if is_plain else frame(written))


def _marked(value: Any, key: str, kept: frozenset[str]) -> Any:
    """The value with the mark at the end of each text, the same for the same text."""
    if isinstance(value, dict):
        return {name: _marked(member, name, kept) for name, member in value.items()}
    if isinstance(value, list):
        return [_marked(member, key, kept) for member in value]
    if not isinstance(value, str) or key in kept:
        return value
    if key == "arguments" and value.startswith("{"):
        return json.dumps(_marked(json.loads(value), "", frozenset()))
    return f"{value}~{MARK}"


def _write_damaged(home: Path) -> None:
    """A line that is no JSON, an event of an unknown type without a name's shape, a torn tail."""
    folder = home / "sessions" / f"--{MARK}--" / f"torn-{MARK}"
    folder.mkdir(parents=True)
    odd = event(f"{MARK} unknown type", 0, {"x": MARK}) + f'{{"type": "{MARK}'.encode() + b"\n"
    whole = frame(header(f"torn-{MARK}", cwd=f"/home/{MARK}", agentPreset=f"{MARK}-preset")) + frame(odd)
    (folder / "session.v4.jsonl.zstd").write_bytes(whole + frame(event("turn/start", 2, {}))[:-3])


def _write_cassettes(home: Path) -> None:
    folder = home / f"{MARK} cassettes"
    folder.mkdir()
    request = {"prompt": [{"type": "text", "text": MARK}], "label": f"{MARK} label"}
    failed = {"kind": "result-error", "error": {"name": "E", "message": MARK}}
    ended = {"kind": "result", "redactions": 0, "result": {"output": [], "stopReason": MARK}}
    for storage in ("metadata", "full"):
        calls = [(request, failed, "root"), (request, ended, f"root/{MARK}~1")]
        path = made.write(folder / f"{MARK}-{storage}.cassette.jsonl", made.bodies(calls, storage), storage)
    text = path.read_text("utf-8")
    (folder / "broken.cassette.jsonl").write_text(
        text.replace('"then"', f'"{MARK} then"').replace('"storage":"full"', f'"storage":"{MARK}"'), "utf-8"
    )


def everything(lake: Path) -> Iterator[tuple[Path, bytes]]:
    """All bytes of all files of a lake, and all that is in its Parquet files as text, names of files too."""
    for path in sorted(lake.rglob("*")):
        yield path, str(path.relative_to(lake)).encode()
        if path.is_file():
            yield path, path.read_bytes()
        if path.suffix == ".parquet":
            file = pq.ParquetFile(path)
            yield path, str(file.metadata.metadata).encode()
            for column in file.read().columns:
                yield path, "\n".join(map(str, column.cast(_readable(column.type)).to_pylist())).encode()


def _readable(kind: pa.DataType) -> pa.DataType:
    return kind if pa.types.is_nested(kind) else pa.large_string()
