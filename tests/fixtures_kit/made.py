"""A small sound fixture tree, written by hand after the kit's rules, to be broken in one place at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpus import CORPUS

ORACLE = CORPUS / "snapshots-oracle"
needs_oracle = pytest.mark.skipif(not ORACLE.is_dir(), reason="the corpus of fixtures is not here")

Record = dict[str, Any]
SYSTEM: Record = {
    "type": "system/message",
    "data": {"message": {"role": "system", "content": [{"type": "text", "text": "{{system}}"}]}},
}
REQUEST: Record = {"type": "request/header", "data": {"header": {"tools": "{{tools}}"}, "reason": "initial"}}
SCHEMAS = {"initial": [{"name": "bash", "description": "run", "parameters": {}}], "changes": []}
CHILD_SCHEMAS = {"initial": [{"name": "report"}], "changes": []}


def header(version: int | None = 4, ordinal: int = 1) -> Record:
    """The header of a projected log."""
    stated = {} if version is None else {"version": version}
    return {"type": "session", **stated, "id": f"{{{{session:{ordinal}}}}}", "createdAt": 0, "cwd": "{{cwd}}"}


def log(*records: Record) -> str:
    """Records as a session file's text."""
    return "".join(json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n" for record in records)


def put(root: Path, files: dict[str, str]) -> None:
    """Write texts to their paths below a folder."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode("utf-8", "surrogatepass"))


def manifest(name: str, profile: str, *more: str) -> str:
    """A manifest of the class ``<profile>-agent/default``, with further lines."""
    stated = (
        f"version: 1\nscenario: {name}\nprofile: {profile}\ncomposition: {profile}-agent\nrecording: live\n"
    )
    lines = more or ("header:", "  class: default", "  pin: true")
    return stated + "".join(f"{line}\n" for line in lines)


BORROWED_PIN = (
    "header:",
    "  class: default",
    "  pin: true",
    "  systemPromptSource: acp/alpha",
    "  toolSchemasSource: acp/alpha",
)

SOUND: dict[str, str] = {
    "acp/alpha/snapshot.yml": manifest("alpha", "acp"),
    "acp/alpha/session.v4.jsonl": log(header(), SYSTEM, REQUEST),
    "acp/alpha/input.json": "{}",
    "acp/alpha/stdout.expected.jsonl": "",
    "acp/alpha/system-prompt.expected.md": "You are an agent.\n",
    "acp/alpha/tool-schemas.expected.json": json.dumps(SCHEMAS, indent=2) + "\n",
    "acp/child/snapshot.yml": manifest(
        "child", "acp", "header:", "  class: default", "  childSystemPrompts: [1]", "  childToolSchemas: [1]"
    ),
    "acp/child/session.v4.jsonl": log(header(), SYSTEM, REQUEST),
    "acp/child/session.1.v4.jsonl": log(header(ordinal=2), SYSTEM, REQUEST),
    "acp/child/session.1.v3.jsonl": log(header(3, ordinal=2)),
    "acp/child/input.json": "{}",
    "acp/child/stdout.expected.jsonl": "",
    "acp/child/system-prompt.1.expected.md": "You are a child.\n",
    "acp/child/tool-schemas.1.expected.json": json.dumps(CHILD_SCHEMAS, indent=2) + "\n",
    "sdk/old/snapshot.yml": manifest(
        "old", "sdk", *BORROWED_PIN, "sessionFormat:", "  version: 2", "  coverage: [adjacent-migration]"
    ),
    "sdk/old/session.v2.jsonl": log(header(2), REQUEST),
    "sdk/old/writer.expected.jsonl": log(header(), SYSTEM, REQUEST),
    "session/beta/snapshot.yml": manifest("beta", "headless", *BORROWED_PIN, "workspace:", "  final: true"),
    "session/beta/session.v4.jsonl": log(header(), SYSTEM, REQUEST),
    "session/beta/workspace.expected/out.txt": "done\n",
    "web/view/snapshot.yml": manifest(
        "view", "web", *BORROWED_PIN, "session:", "  source: ../../session/beta/session.v4.jsonl"
    ),
}

Change = Callable[[Path], None]


def sound_tree(root: Path) -> Path:
    """The sound tree, written below a folder."""
    put(root, SOUND)
    return root


def writes(path: str, text: str) -> Change:
    """Puts another text in the place of a file, or a further file."""
    return lambda root: put(root, {path: text})


def removes(*paths: str) -> Change:
    """Takes files away."""

    def change(root: Path) -> None:
        for path in paths:
            (root / path).unlink()

    return change


def renames(before: str, after: str) -> Change:
    """Gives a file or directory another name."""
    return lambda root: void((root / before).rename(root / after))


def edits(path: str, before: str, after: str) -> Change:
    """Replaces text that stands in a file."""

    def change(root: Path) -> None:
        text = (root / path).read_text()
        assert before in text
        (root / path).write_text(text.replace(before, after))

    return change


def both(*changes: Change) -> Change:
    """All of these."""
    return lambda root: void([change(root) for change in changes])


def void(_: object) -> None:
    return None


def codes(findings: Sequence[Any]) -> list[str]:
    """The labels of findings, in their order."""
    return [finding.code for finding in findings]
