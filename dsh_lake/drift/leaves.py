"""Which members of two lines differ, leaf by leaf.

The rule: a member is named by its path with ``[]`` for a place in a list. Fragments of a stream are put
together before they are compared, since where a stream was cut says nothing of what was said; that they were
cut elsewhere is a difference of its own.

Source: spec/snapshot-kit.md sections 6 and 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from dsh_lake.errors import FixtureError, MalformedJson
from dsh_lake.fixtures.rows import parse, stringify

_TEXTS = frozenset(
    (
        *("text", "texts", "args", "arguments", "content", "title", "label", "oldText", "newText", "message"),
        *("summary", "output", "rawOutput", "objective", "detail", "task", "prompt", "description", "error"),
    )
)
"""Names of members whose strings are prose, code or tool output."""
_FRAGMENTS = {"text-chunks": "texts", "reasoning-chunks": "texts", "tool-call-chunks": "args"}
_ABSENT = object()


class Leaf(NamedTuple):
    """One member that differs; a side without it is None, other values than strings are JSON."""

    member: str
    is_text: bool
    expected: str | None
    actual: str | None


def leaves(expected: str, actual: str) -> list[Leaf]:
    """The members in which two lines differ; a line that is no JSON object is one text.

    Lines of the same members in another order differ in ``(order)``.
    """
    first, second = record_of(expected), record_of(actual)
    if first is None or second is None:
        return [Leaf("(line)", True, storable(expected), storable(actual))]
    _join_stream(first)
    _join_stream(second)
    found = list(_differing("", first, second))
    return found or [Leaf("(order)", False, storable(expected), storable(actual))]


def record_of(line: str) -> dict[str, Any] | None:
    """The JSON object in a line, None where there is none."""
    try:
        record = parse(line)
    except (MalformedJson, FixtureError):
        return None
    return record if isinstance(record, dict) else None


def storable(text: str) -> str:
    """The text as a table can hold it: half of a surrogate pair is written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _differing(member: str, first: Any, second: Any) -> Iterator[Leaf]:
    if isinstance(first, dict) and isinstance(second, dict):
        for name in [*first, *(name for name in second if name not in first)]:
            path = f"{member}.{name}" if member else name
            yield from _differing(path, first.get(name, _ABSENT), second.get(name, _ABSENT))
    elif isinstance(first, list) and isinstance(second, list):
        for place in range(max(len(first), len(second))):
            one, other = (side[place] if place < len(side) else _ABSENT for side in (first, second))
            yield from _differing(member + "[]", one, other)
    elif first != second or type(first) is not type(second):
        yield Leaf(member, _is_text(member, first, second), _shown(first), _shown(second))


def _is_text(member: str, first: Any, second: Any) -> bool:
    name = member.rsplit(".", 1)[-1].removesuffix("[]")
    return name in _TEXTS and isinstance(first, str) and isinstance(second, str)


def _shown(value: Any) -> str | None:
    if value is _ABSENT:
        return None
    return storable(value if isinstance(value, str) else stringify(value))


def _join_stream(record: dict[str, Any]) -> None:
    data = record.get("data")
    if isinstance(data, dict) and isinstance(data.get("stream"), list):
        data["stream"] = list(_joined(data["stream"]))


def _joined(stream: list[Any]) -> Iterator[Any]:
    """The parts of a stream, fragments of one block as one part: its text, and the lengths of the cuts."""
    last: dict[str, Any] | None = None
    for part in stream:
        name = _FRAGMENTS.get(str(part.get("type"))) if isinstance(part, dict) else None
        pieces = part.get(name) if name is not None else None
        if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
            yield from () if last is None else (last,)
            last = None
            yield part
            continue
        kept = {key: value for key, value in part.items() if key not in (name, "dt", "time0")}
        if last is not None and all(last.get(key, value) == value for key, value in kept.items()):
            last.update(kept, text=last["text"] + "".join(pieces), cuts=last["cuts"] + [*map(len, pieces)])
        else:
            yield from () if last is None else (last,)
            last = {**kept, "text": "".join(pieces), "cuts": [len(piece) for piece in pieces]}
    if last is not None:
        yield last
