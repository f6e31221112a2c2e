"""DSH's own figures: what its projection cache says of a session's tokens.

The rule: a cache file is evidence, never a source of figures. It may lag behind its log, so it says up to
which event it counts, and whoever compares has to look.

Source: spec/session-archive.md section 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from dsh_lake.sources import actual_path

_FOLDER = Path("storages", "session_projcache", "sessions")


class Totals(msgspec.Struct, frozen=True):
    """Tokens as DSH adds them up: answers and attempts, inherited ones too, without compactions."""

    input: int = msgspec.field(name="uncachedInputTokens")
    output: int = msgspec.field(name="outputTokens")
    cache_read: int = msgspec.field(name="cacheReadTokens")
    cache_write: int = msgspec.field(name="cacheWriteTokens")


class Projection(msgspec.Struct, frozen=True):
    """What DSH's cache says of one session: ``totals`` of all events up to and with number ``seq``.

    ``source_id`` is the log's name in the lake, ``path`` that of the cache file.
    """

    source_id: str
    path: str
    seq: int
    totals: Totals


class _Value(msgspec.Struct):
    totals: Totals


class _TokenUsage(msgspec.Struct):
    seq: int
    val: _Value


class _Rows(msgspec.Struct):
    token_usage: _TokenUsage = msgspec.field(name="tokenUsage")


class _Record(msgspec.Struct):
    rows: _Rows


class _Cache(msgspec.Struct):
    record: _Record


_DECODER = msgspec.json.Decoder(_Cache)


def cache_path(log: str) -> Path | None:
    """Where DSH keeps its figures of the session that a log is of; None outside a DSH home.

    Args:
        log: path of a log, as the lake spells it.

    >>> str(cache_path("/home/me/.dsh/sessions/--work--/s-1/session.v4.jsonl.zstd"))
    '/home/me/.dsh/storages/session_projcache/sessions/s-1.json'
    """
    path = Path(actual_path(log))
    if len(path.parents) < 4 or path.parents[2].name != "sessions":
        return None
    return path.parents[3] / _FOLDER / f"{path.parent.name}.json"


def read_projections(logs: Iterable[tuple[str, str]]) -> Iterator[Projection]:
    """What DSH's caches say of these sessions, one at a time.

    Args:
        logs: ``source_id`` and path of each log.

    Returns:
        One projection for each log that has a cache with token totals, in the order of the logs. Where there
        is no such file, or it is of a shape that this reader does not know, nothing is said of the session.
    """
    for source_id, log in logs:
        path = cache_path(log)
        if path is None or not path.is_file():
            continue
        try:
            usage = _DECODER.decode(path.read_bytes()).record.rows.token_usage
        except (OSError, msgspec.MsgspecError, RecursionError):
            continue
        yield Projection(source_id, str(path), usage.seq, usage.val.totals)
