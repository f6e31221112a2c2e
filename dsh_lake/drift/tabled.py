"""A log as lines made from the tables that every generation fills: for logs that cannot be migrated.

The rule: what the tables hold alike for all generations is compared (turns, messages and their texts, calls
and their outcomes, usage), and nothing of how a generation spells it.

Source: spec/interface.md (tables); spec/session-archive.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from dsh_lake.connection import read_session
from dsh_lake.errors import FixtureError
from dsh_lake.fixtures.normalize import scrub_record, without_clocks
from dsh_lake.fixtures.rows import parse, stringify
from dsh_lake.fixtures.strings import Context, Normalizer

_TURNS = frozenset({"turn/start", "turn/end", "step/start", "step/end"})
_CALL = ("turn", "step", "name", "status", "error_name", "error_code")
_USAGE = (
    "turn",
    "step",
    "kind",
    "provider",
    "model",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_MESSAGE = ("turn", "step", "role", "source_kind", "is_interrupted")
Placed = tuple[tuple[int, int, int], dict[str, Any]]


def tabled_log(
    path: str | os.PathLike[str], cwd: str | None, cwd_aliases: Sequence[str] = (), *, with_all: bool = False
) -> str:
    """The log's lines in its own order.

    Args:
        path: the log.
        cwd: where the run worked; by default what the header states.
        cwd_aliases: other spellings of it.
        with_all: also a line for every other event, which is of use only between logs of one generation.

    Raises:
        UnreadableSource: the file cannot be opened.
        FixtureError: nothing in it is a session.
    """
    tables = read_session(path)
    if not tables["sessions"].num_rows:
        raise FixtureError(f"{os.fspath(path)}: no session log")
    stated = tables["sessions"].column("cwd")[0].as_py()
    normalizer = Normalizer(Context(cwd or stated or "", cwd_aliases, legacy_ids=True))
    rows = sorted(_rows(tables, with_all), key=lambda row: row[0])
    return "".join(stringify(normalizer.value(record)) + "\n" for _, record in rows)


def _rows(tables: dict[str, pa.Table], with_all: bool) -> Iterator[Placed]:
    texts: dict[tuple[int, int], str] = {}
    for event in tables["events"].select(["line", "seq", "type", "turn", "step", "data"]).to_pylist():
        place = (event["line"], event["seq"] or 0)
        data = parse(event["data"]) if event["data"] else None
        if event["type"].endswith("/message") or event["type"] == "tool/result":
            texts[place] = "" if event["type"] == "system/message" else "\n".join(_texts(data))
        elif event["type"] in _TURNS:
            reason = {"reason": data["reason"]} if isinstance(data, dict) and "reason" in data else {}
            yield (*place, 0), _line(event["type"], {"turn": event["turn"], "step": event["step"], **reason})
        elif with_all and event["type"] not in ("tool/call", "assistant/chunk"):
            record = without_clocks(_line(event["type"], data))
            scrub_record(record, True)
            yield (*place, 0), record
    for table, kind, names in (
        ("messages", "message", _MESSAGE),
        ("tool_calls", "tool/call", _CALL),
        ("usage", "usage", _USAGE),
    ):
        for rank, row in enumerate(tables[table].to_pylist()):
            place = (row["line"], row["seq"] or 0)
            more = {"text": texts.get(place)} if table == "messages" else {}
            if table == "tool_calls":
                more = {"arguments": row["arguments"]}
            yield (*place, 1 + rank), _line(kind, {**{name: row[name] for name in names}, **more})
    for row in tables["tool_results"].to_pylist():
        place = (row["line"], row["seq"] or 0)
        yield (*place, 1), _line("tool/result", {"status": row["status"], "text": texts.get(place)})


def _line(kind: str, data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def _texts(value: Any) -> Iterator[str]:
    """Every text block in a value, at any depth, but not those of the stream that a message repeats."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            yield value["text"]
        for name, member in value.items():
            if name != "stream":
                yield from _texts(member)
