"""Cassettes made of past sessions: what sub-agents were asked and answered, as a fixture without a recording.

The rule: what the archive does not say is left out or takes the value that claims least, and is never
invented; ``docs/cassettes.md`` lists it. Such a cassette is marked by its provider names, ``dsh-lake`` and
``archive:<provider>``. The same sessions give the same bytes.

Source: spec/cassette.md sections 10 and 13; spec/session-archive.md (sub-agents).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import NAMESPACE_URL, uuid5

import msgspec

from dsh_lake.canonical import JsonValue, digest, parse_json
from dsh_lake.cassette.collection import PathLike, as_list, tables_of
from dsh_lake.cassette.groups import Group
from dsh_lake.cassette.identity import (
    JsonObject,
    Topology,
    call_key,
    normalised_request,
    parent_context_fingerprint,
    request_metadata,
)
from dsh_lake.cassette.lock import iso_timestamp
from dsh_lake.cassette.redact import Redactor
from dsh_lake.cassette.writer import CassetteWriter, new_header
from dsh_lake.engine import fetch_rows
from dsh_lake.errors import UnreadableSource
from dsh_lake.records.cassette_checks import Faults, check_blocks
from dsh_lake.sources import discover

PROVIDER = "dsh-lake"
UPSTREAM_PREFIX = "archive:"
Storage = Literal["metadata", "full"]

_UNKNOWN_ENDS = {
    None: "its last turn did not end",
    "interrupted": "it was interrupted: what its caller got is not known",
    "forked": "it was forked: what its caller got is not known",
}
_PASSED_ON = ("persona", "toolFilter")


class LeftOut(msgspec.Struct, frozen=True):
    """A sub-agent session that is in no cassette, and why."""

    session_id: str
    reason: str


class Derived(msgspec.Struct, frozen=True):
    """The cassettes that were written, as path and number of calls, and what is in none."""

    cassettes: dict[str, int]
    left_out: list[LeftOut]

    def document(self) -> dict[str, Any]:
        """The result as plain values."""
        documents: dict[str, Any] = msgspec.to_builtins(self)
        return documents


def from_sessions(
    roots: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    storage: Storage = "metadata",
    jobs: int | None = None,
) -> Derived:
    """Write a cassette for each top-level session with sub-agents, one for each provider that ran them.

    Args:
        roots: DSH homes, other folders or session files.
        output: the folder for ``<session id>.<provider>.cassette.jsonl``; files there are replaced.
        storage: keep of requests their metadata, or the redacted whole.
        jobs: processes that read; by default as many as there are processors, 4 at most.

    Raises:
        UnreadableSource: no root could be opened.
        CassetteFormatError: a cassette cannot be written.
    """
    discovery = discover(as_list(roots))
    if not discovery.opened_roots:
        raise UnreadableSource(", ".join(as_list(roots)), "nothing to read")
    sessions = [file for file in discovery.files if file.kind != "cassette"]
    with tables_of(sessions, ["subagent_runs", "sessions"], jobs=jobs) as (connection, _):
        runs = fetch_rows(connection, "from subagent_runs")
        parents = {row["session_id"]: row for row in fetch_rows(connection, "from sessions")}
    topics: dict[str, list[dict[str, Any]]] = {}
    left_out = []
    for run in runs:
        if reason := _obstacle(run, parents):
            left_out.append(LeftOut(run["session_id"], reason))
        else:
            topics.setdefault(run["root_session_id"], []).append(run)
    written: dict[str, int] = {}
    for root_id, members in topics.items():
        written |= _write_all(Path(output), parents[root_id], members, parents, storage)
    return Derived(written, left_out)


def _obstacle(run: Mapping[str, Any], parents: Mapping[str, Any]) -> str | None:
    """Why a run cannot become a call; None where nothing is in the way."""
    if run["parent_session_id"] not in parents or run["root_session_id"] not in parents:
        return "the session of its parent is not among these"
    if run["provider"] is None:
        return "it does not say which provider ran it"
    if run["prompt"] is None:
        return "it does not say what it was asked"
    if run["created_at"] is None or run["ended_at"] is None:
        return _UNKNOWN_ENDS[None]
    return _UNKNOWN_ENDS.get(run["stop_reason"])


class _Call(msgspec.Struct):
    """A run with its identity; ``asked_at`` is when it was admitted, as far as the archive tells."""

    run: Mapping[str, Any]
    group: Group
    key: str
    occurrence: int
    sequence: int
    request: JsonObject
    asked_at: datetime


def _write_all(
    folder: Path,
    root: Mapping[str, Any],
    runs: Iterable[Mapping[str, Any]],
    sessions: Mapping[str, Mapping[str, Any]],
    storage: Storage,
) -> dict[str, int]:
    """Write the cassettes of one top-level session; calls by path."""
    written = {}
    for provider, calls in _identified(runs, root["session_id"], sessions).items():
        path = folder / f"{_file_name(root['session_id'])}.{_file_name(provider)}.cassette.jsonl"
        header = _header(root, provider, storage)
        redactor = Redactor()
        with CassetteWriter(path, header, "truncate") as writer:
            for call in sorted(calls, key=lambda call: (call.run["ended_at"], call.sequence)):
                writer.append(_body(call, storage, redactor))
        written[os.fspath(path)] = len(calls)
    return written


def _file_name(text: str) -> str:
    """Text as a part of a file name: what could lead elsewhere becomes ``_``."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in text)


def _header(root: Mapping[str, Any], provider: str, storage: Storage) -> JsonObject:
    header = new_header(
        provider=PROVIDER,
        upstream=UPSTREAM_PREFIX + provider,
        capabilities={},
        inherits_parent_context=provider == "fork",
        request_storage=storage,
    )
    del header["hash"]
    header["cassetteId"] = str(uuid5(NAMESPACE_URL, f"dsh-lake:{root['session_id']}:{provider}"))
    if root["created_at"] is not None:
        header["createdAt"] = iso_timestamp(root["created_at"])
    return {**header, "hash": digest(header)}


def _identified(
    runs: Iterable[Mapping[str, Any]], root_id: str, sessions: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[_Call]]:
    """The calls by provider, numbered in the order in which they were asked for."""
    keys = {root_id: Topology.ROOT}
    occurrences: Counter[tuple[str, Group]] = Counter()
    calls: dict[str, list[_Call]] = {}
    # A parent comes before its children: it was created before.
    for run in sorted(
        runs, key=lambda run: (run["delegation_depth"] or 0, _asked_at(run), run["session_id"])
    ):
        parent_id = run["parent_session_id"]
        request = normalised_request(_request(run))
        context = parent_context_fingerprint(_context(sessions[parent_id]))
        parent_key = keys.get(parent_id, f"unknown-parent:{parent_id}")
        group = Group(parent_key, context, digest(request))
        provider = run["provider"]
        occurrences[provider, group] += 1
        occurrence = occurrences[provider, group]
        key = call_key(parent_key, request.get("label"), context, group.request_fingerprint, occurrence)
        keys[run["session_id"]] = key
        calls.setdefault(provider, []).append(_Call(run, group, key, occurrence, 0, request, _asked_at(run)))
    for members in calls.values():
        for sequence, call in enumerate(sorted(members, key=lambda call: (call.asked_at, call.key)), 1):
            call.sequence = sequence
    return calls


def _asked_at(run: Mapping[str, Any]) -> datetime:
    """When the parent called, where the archive tells; else when the child began."""
    called: datetime | None = run["called_at"]
    created: datetime = run["created_at"]
    return called if called is not None and called <= created else created


def _request(run: Mapping[str, Any]) -> dict[str, object]:
    descriptor = _parsed(run["descriptor"])
    descriptor = descriptor if isinstance(descriptor, dict) else {}
    request: dict[str, object] = {"prompt": _blocks(run["prompt"])}
    if run["label"] is not None:
        request["label"] = run["label"]
    options = {"provider": descriptor.get("agentProvider"), "model": descriptor.get("agentModel")}
    if known := {name: value for name, value in options.items() if isinstance(value, str)}:
        request["agentOptions"] = known
    request |= {name: descriptor[name] for name in _PASSED_ON if descriptor.get(name) is not None}
    return request


def _context(parent: Mapping[str, Any]) -> JsonObject:
    """The parent's context as far as its header tells."""
    session = {
        "cwd": parent["cwd"],
        "origin": parent["origin"],
        "delegationDepth": parent["delegation_depth"],
        "agentPreset": parent["agent_preset"],
    }
    return {"options": {}, "session": {name: value for name, value in session.items() if value is not None}}


def _body(call: _Call, storage: Storage, redactor: Redactor) -> JsonObject:
    """The interaction as it is appended."""
    run = call.run
    view: JsonObject = {"storage": "metadata", "metadata": request_metadata(call.request)}
    if storage == "full":
        value, count = redactor.value(call.request)
        view = {"storage": "full", "value": value, "redactions": count}
    result, redactions = redactor.value(
        {"output": list(_blocks(run["output"])), "stopReason": run["stop_reason"]}
    )
    start_ms = _milliseconds(call.asked_at, run["created_at"])
    return {
        "kind": "cassette/interaction",
        "sequence": call.sequence,
        "callKey": call.key,
        "parentKey": call.group.parent_key,
        "parentContextFingerprint": call.group.parent_context_fingerprint,
        "occurrence": call.occurrence,
        "requestFingerprint": call.group.request_fingerprint,
        "request": view,
        "timing": {
            "startedAt": iso_timestamp(call.asked_at),
            "startLatencyMs": start_ms,
            "durationMs": max(start_ms, _milliseconds(call.asked_at, run["ended_at"])),
        },
        "published": True,
        "local": True,
        "outcome": {"kind": "result", "result": result, "redactions": redactions},
    }


def _milliseconds(start: datetime, end: datetime) -> float:
    return max(0.0, round((end - start).total_seconds() * 1000, 3))


def _blocks(text: str | None) -> list[JsonValue]:
    """The content blocks of a message that a cassette can hold as they are."""
    content = _parsed(text)
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if _is_block(block)] if isinstance(content, list) else []


def _is_block(block: JsonValue) -> bool:
    faults = Faults(0)
    check_blocks([block], "", 0, faults)
    return not faults.found


def _parsed(text: str | None) -> JsonValue:
    return None if text is None else parse_json(text)
