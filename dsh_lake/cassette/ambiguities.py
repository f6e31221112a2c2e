"""Which calls of any number of cassettes cannot be told apart although they ended differently.

The rule: groups are a query (``queries/views/ambiguous_groups.sql``); only a sound cassette has groups, of
any other its first fault is told instead. Outcomes are told apart by fingerprint and metadata, never by
what was said in them.

Source: spec/cassette.md section 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from dsh_lake.cassette.collection import Collection, PathLike, as_list, opened
from dsh_lake.cassette.verification import Judged, judge
from dsh_lake.engine import fetch_rows
from dsh_lake.records.cassette_facts import unstored


class Ambiguities(msgspec.Struct, frozen=True):
    """Ambiguous groups, by file and first line, and the cassettes that have none because they are not sound.

    A group has ``path``, ``parent_key``, ``parent_context_fingerprint``, ``request_fingerprint``, ``calls``,
    ``outcomes`` (how many different ones), ``differs`` (the members in which they differ; empty where only
    what was said differs) and ``members``: line, sequence, call_key, occurrence, label, outcome_kind,
    stop_reason, error_name, error_code, redactions, outcome_fingerprint and duration_ms of each call.
    """

    groups: list[dict[str, Any]]
    cassettes: int
    refused: list[Judged]

    @property
    def exit_code(self) -> int:
        """0: no group. 1: something could not be read, or the only cassette is not sound. 2: groups, or
        cassettes that are not sound."""
        if any(judged.status == "unreadable" for judged in self.refused):
            return 1
        if self.refused and self.cassettes == 1:
            return 1
        return 2 if self.groups or self.refused else 0

    def document(self) -> dict[str, Any]:
        """The answer as plain values, as ``--format json`` prints it."""
        return {
            "cassettes": self.cassettes,
            "groups": self.groups,
            "refused": [
                {"path": judged.path, "status": judged.status, "message": judged.message}
                for judged in self.refused
            ],
        }


def ambiguity(paths: PathLike | Sequence[PathLike], *, jobs: int | None = None) -> Ambiguities:
    """The ambiguous groups of cassettes: files, folders or patterns.

    Args:
        paths: see :func:`dsh_lake.cassette.collection.find`.
        jobs: processes that read; by default as many as there are processors, 4 at most.
    """
    with opened(as_list(paths), jobs=jobs) as collection:
        judged, _ = judge(collection)
        refused = [one for one in judged if one.status != "sound"]
        left_out = {one.path for one in refused}
        groups = [group for group in _groups(collection) if group["path"] not in left_out]
    return Ambiguities(groups, len(judged), refused)


def _groups(collection: Collection) -> list[dict[str, Any]]:
    order = {name: number for number, name in enumerate(collection.names.values())}
    rows = fetch_rows(collection.connection, "from ambiguous_groups")
    groups = [_readable(row, collection.names[row["source_id"]]) for row in rows]
    return sorted(groups, key=lambda group: (order[group["path"]], group["members"][0]["line"]))


def _readable(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    members = [
        {field: unstored(value) if isinstance(value, str) else value for field, value in member.items()}
        for member in row["members"]
    ]
    return {
        "path": name,
        "parent_key": unstored(row["parent_key"]),
        "parent_context_fingerprint": row["parent_context_fingerprint"],
        "request_fingerprint": row["request_fingerprint"],
        "calls": row["calls"],
        "outcomes": row["outcomes"],
        "differs": row["differs"],
        "members": members,
    }
