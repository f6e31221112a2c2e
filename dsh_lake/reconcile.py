"""Hold the tokens of a lake against what somebody else counted: a provider's export, or DSH's own figures.

The rule: a difference is explained by what is known to be counted by one side alone, as a whole and exactly;
what is left over is shown as such. A lake counts answers, attempts that were thrown away, and compactions; it
does not count what a fork inherits, nor the calls for titles and searches, whose tokens no log states.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dsh_lake.connection import connect
from dsh_lake.engine import run
from dsh_lake.errors import UnreadableSource
from dsh_lake.projections import Projection, cache_path, read_projections
from dsh_lake.provider_usage import ProviderUsage, read_provider_usage
from dsh_lake.sources import actual_path
from dsh_lake.time_zones import check_zone

if TYPE_CHECKING:
    import pyarrow as pa

    from dsh_lake.engine import Connection

KINDS = ("attempts", "compaction", "inherited", "unreported", "stale")
"""What a gap is divided into; with ``unexplained`` they add up to it."""
_UNREPORTED_TYPES = ("session/title-llm-request", "web/deepseek-search-llm-request")
_LARGEST_CALL = 1 << 20
"""Tokens that one call for a title or a search can have at the very most: the largest context there is."""
_BUCKETS = ("input", "output", "cache_read", "cache_write")

Tokens = dict[str, int]
"""Tokens by the names of :data:`dsh_lake.provider_usage.TOKENS`."""
Row = dict[str, Any]


def reconcile(
    file: str | os.PathLike[str],
    *,
    lake: str | os.PathLike[str] | None = None,
    as_of: str | None = None,
    time_zone: str = "UTC",
) -> dict[str, Any]:
    """Compare the tokens of a lake with a provider's usage export, or with DSH's own projection caches.

    Args:
        file: a CSV file (see :mod:`dsh_lake.provider_usage` for its columns), or the folder of a DSH home
            whose ``storages/session_projcache`` holds what DSH counted of each session.
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.
        time_zone: where the days of the export begin.

    Returns:
        ``ok`` (every gap is zero or explained), ``against`` (``provider`` or ``projection``), ``path``,
        ``time_zone``, ``rows``, ``left_out`` (usage of the lake, and cache files, that could not be compared:
        ``what``, ``count``, ``reason``) and ``ignored_columns`` of the export. A row is of one measure of a
        day and model, or of a session: ``day``, ``model``, ``session_id``, ``measure``, ``ours``, ``theirs``,
        ``gap`` (theirs less ours), the parts of the gap by :data:`KINDS`, ``unexplained``, and
        ``unreported_calls``: calls for titles and searches of that day, whose tokens no log states. Day and
        model of a session are null where it has several. Costs are compared, but no gap of theirs is
        explained or counted: ``unexplained`` is null.

    Raises:
        UnreadableSource: the file cannot be read as one of the two.
        UsageError: the time zone is not known.
        LakeError: there is no lake, or no such scan.
    """
    path = Path(os.path.expanduser(file))
    check_zone(time_zone)
    with connect(lake, as_of=as_of) as connection:
        if path.is_dir():
            result = _against_projections(connection, path, time_zone)
        else:
            result = _against_provider(connection, read_provider_usage(path), time_zone)
    rows = result["rows"]
    is_ok = not any(row["unexplained"] for row in rows)
    return {"ok": is_ok, "path": str(path), "time_zone": time_zone, "ignored_columns": [], **result}


def reconcile_rows(result: Mapping[str, Any]) -> pa.RecordBatchReader:
    """The rows of :func:`reconcile` with typed columns; costs make the figures decimal numbers."""
    import pyarrow as pa

    figures = ("ours", "theirs", "gap", *KINDS, "unexplained")
    schema = pa.schema(
        [
            ("day", pa.date32()),
            *((name, pa.large_string()) for name in ("model", "session_id", "measure")),
            *((name, pa.float64()) for name in figures),
            ("unreported_calls", pa.int64()),
        ]
    )
    rows = [{**row, "day": row["day"] and date.fromisoformat(row["day"])} for row in result["rows"]]
    return pa.Table.from_pylist(rows, schema=schema).to_reader()


def _measured(buckets: Mapping[str, Any], measures: Iterable[str]) -> Tokens:
    """Tokens of the lake's buckets by measure; a provider that states no cache writes bills them as input."""
    tokens = {name: int(buckets[name] or 0) for name in _BUCKETS}
    prompt = tokens["input"] + tokens["cache_read"] + tokens["cache_write"]
    tokens |= {"prompt": prompt, "total": prompt + tokens["output"]}
    if "cache_write" not in measures:
        tokens["input"] += tokens["cache_write"]
    return {name: tokens[name] for name in measures if name in tokens}


def _row(key: Mapping[str, Any], measure: str, ours: Any, theirs: Any, parts: Mapping[str, int]) -> Row:
    gap = theirs - ours
    by_kind = {kind: parts.get(kind, 0) for kind in KINDS}
    return {
        **key,
        "measure": measure,
        "ours": ours,
        "theirs": theirs,
        "gap": gap,
        **by_kind,
        "unexplained": gap - sum(by_kind.values()),
    }


# -- a provider's export -----------------------------------------------------------------------------------

_BY_DAY = """
select
    timezone($zone, "at")::date as day, model, case when is_inherited then 'inherited' else kind end as kind,
    sum(input_tokens) as input, sum(output_tokens) as output, sum(cache_read_tokens) as cache_read,
    sum(cache_write_tokens) as cache_write
from usage
where not is_replaced and not is_recovered
group by all
"""
_UNREPORTED = """
select timezone($zone, "at")::date as day, model, count(*) as calls
from event_facts
where type in (select unnest($types)) and not is_inherited and not is_recovered
group by all
"""
_COSTS = """
select timezone($zone, "at")::date as day, model, sum(cost) as cost from usage_cost group by all
"""


class _Usage:
    """What the lake counts by day and model, split by what each side may count."""

    def __init__(self, connection: Connection, zone: str, theirs: ProviderUsage) -> None:
        self._has_model = theirs.has_model
        self._measures = theirs.measures
        self.by_kind: dict[tuple[Any, Any], dict[str, Tokens]] = {}
        for row in _fetch(connection, _BY_DAY, {"zone": zone}):
            into = self.by_kind.setdefault(self._key(row), {}).setdefault(row["kind"], {})
            for name, tokens in _measured(row, self._measures).items():
                into[name] = into.get(name, 0) + tokens
        # A search does not say which model it asked.
        parameters = {"zone": zone, "types": list(_UNREPORTED_TYPES)}
        self._unreported = [(row, row["calls"]) for row in _fetch(connection, _UNREPORTED, parameters)]
        self._costs = _fetch(connection, _COSTS, {"zone": zone}) if "cost" in self._measures else []

    def _key(self, row: Mapping[str, Any]) -> tuple[Any, Any]:
        return row["day"], row["model"] if self._has_model else None

    def tokens(self, key: tuple[Any, Any], *kinds: str) -> Tokens:
        """The tokens of some kinds, or of all that are the lake's own."""
        parts = self.by_kind.get(key, {})
        chosen = [parts[kind] for kind in kinds or ("message", "attempt", "compaction") if kind in parts]
        return {name: sum(part.get(name, 0) for part in chosen) for name in self._measures if name != "cost"}

    def unreported(self, day: Any, model: Any) -> int:
        """Calls of the day that no log states the tokens of, of that model or of one that is not named."""
        models = (model, None)
        return sum(
            calls
            for row, calls in self._unreported
            if row["day"] == day and (row["model"] in models or not self._has_model)
        )

    def cost(self, key: tuple[Any, Any]) -> float:
        """What the calls cost by the prices of the lake."""
        return sum(row["cost"] or 0.0 for row in self._costs if self._key(row) == key)


def _against_provider(connection: Connection, theirs: ProviderUsage, zone: str) -> dict[str, Any]:
    usage = _Usage(connection, zone, theirs)
    days = [day for day, _ in theirs.rows]
    models = {model for _, model in theirs.rows}
    within = {
        key
        for key in usage.by_kind
        if days and key[0] is not None and min(days) <= key[0] <= max(days) and key[1] in models
    }
    rows: list[Row] = []
    for key in sorted(within | theirs.rows.keys(), key=lambda key: (key[0], key[1] or "")):
        rows += _provider_rows(key, usage, theirs)
    return {
        "against": "provider",
        "rows": rows,
        "left_out": _outside(usage, within, days),
        "ignored_columns": list(theirs.ignored),
    }


def _provider_rows(key: tuple[Any, Any], usage: _Usage, theirs: ProviderUsage) -> Iterator[Row]:
    stated = theirs.rows.get(key, {})
    ours = usage.tokens(key)
    calls = usage.unreported(*key)
    # A day that an export does not list had no use; of one that it lists, an empty figure is not stated.
    figures = {name: int(stated.get(name, 0)) for name in ours if name in stated or not stated}
    gaps = {name: figure - ours[name] for name, figure in figures.items()}
    parts = _explanation(gaps, usage, key, calls)
    about = {"day": key[0].isoformat(), "model": key[1], "session_id": None}
    for name, figure in figures.items():
        by_kind = {kind: tokens[name] for kind, tokens in parts.items()}
        yield {**_row(about, name, ours[name], figure, by_kind), "unreported_calls": calls}
    if "cost" in stated:
        cost = float(stated["cost"])
        nothing = dict.fromkeys((*KINDS, "unexplained"))
        yield {**_row(about, "cost", usage.cost(key), cost, {}), **nothing, "unreported_calls": calls}


def _explanation(gaps: Tokens, usage: _Usage, key: tuple[Any, Any], calls: int) -> dict[str, Tokens]:
    """The fewest kinds that make up the gap of every measure, each as a whole; else with what calls that
    state no figures may have taken; nothing where neither does."""
    signed = {
        "attempts": {name: -tokens for name, tokens in usage.tokens(key, "attempt").items()},
        "compaction": {name: -tokens for name, tokens in usage.tokens(key, "compaction").items()},
        "inherited": usage.tokens(key, "inherited"),
    }
    kinds = [kind for kind, tokens in signed.items() if any(tokens.values())]
    choices = list(chain.from_iterable(combinations(kinds, size) for size in range(len(kinds) + 1)))
    rests = [
        {name: gap - sum(signed[kind][name] for kind in chosen) for name, gap in gaps.items()}
        for chosen in choices
    ]
    for chosen, rest in zip(choices, rests, strict=True):
        if not any(rest.values()):
            return {kind: signed[kind] for kind in chosen}
    for chosen, rest in zip(choices, rests, strict=True):
        if all(0 <= tokens <= calls * _LARGEST_CALL for tokens in rest.values()):
            return {**{kind: signed[kind] for kind in chosen}, "unreported": rest}
    return {}


def _outside(usage: _Usage, within: set[tuple[Any, Any]], days: Sequence[date]) -> list[dict[str, Any]]:
    """Usage of the lake that the export does not cover."""
    found: dict[str, int] = {}
    for key, kinds in usage.by_kind.items():
        if key in within or not kinds.keys() - {"inherited"}:
            continue
        is_covered = days and key[0] is not None and min(days) <= key[0] <= max(days)
        reason = (
            f"the export does not name the model {key[1]}" if is_covered else "the day is not in the export"
        )
        found[reason] = found.get(reason, 0) + 1
    what = "days of a model"
    return [{"what": what, "count": count, "reason": reason} for reason, count in sorted(found.items())]


# -- DSH's own figures -------------------------------------------------------------------------------------

_LOGS = "select source_id, session_id, path, is_counted from sources where kind = 'session'"
_BY_SESSION = """
with caches as (
    select unnest(from_json($caches, '[{"source_id":"VARCHAR","seq":"BIGINT"}]'), max_depth := 2)
),

samples as (
    select
        u.*, c.seq as cut, timezone($zone, u."at")::date as day,
        lead(u.seq) over (partition by u.source_id, u.kind = 'compaction' order by u.line, u.seq) as next_seq
    from usage as u
    inner join caches as c using (source_id)
    where not u.is_recovered
),

parts as (
    select *, unnest([
        case when not is_replaced and not is_inherited then 'ours' end,
        case when not is_replaced and not is_inherited and kind = 'compaction' then 'compaction' end,
        case when not is_replaced and is_inherited and kind <> 'compaction' then 'inherited' end,
        -- A sample counts up to the event that replaces it.
        case
            when kind <> 'compaction' and seq <= cut and (not is_replaced or next_seq > cut) then 'covered'
        end
    ]) as part
    from samples
)

select
    source_id, part, sum(input_tokens) as input, sum(output_tokens) as output,
    sum(cache_read_tokens) as cache_read, sum(cache_write_tokens) as cache_write,
    case when count(distinct day) = 1 then any_value(day) end as day,
    case when count(distinct model) = 1 then any_value(model) end as model
from parts
where part is not null
group by source_id, part
"""
_LAST_SEQ = """
select source_id, max(seq) as seq from events
where source_id in (select unnest($sources)) and not is_recovered
group by source_id
"""


def _against_projections(connection: Connection, home: Path, zone: str) -> dict[str, Any]:
    logs = _fetch(connection, _LOGS)
    counted = {_folder(log["path"]): log for log in logs if log["is_counted"]}
    stems = _cached_sessions(home)
    elsewhere = _counted_elsewhere(home, logs)
    known = [
        (counted[stem]["source_id"], stem) for stem in stems if stem in counted and stem not in elsewhere
    ]
    projections = list(read_projections((source, _log_in(home, stem)) for source, stem in known))
    parts = _parts(connection, projections, zone)
    newest = {
        row["source_id"]: row["seq"]
        for row in _fetch(connection, _LAST_SEQ, {"sources": [one.source_id for one in projections]})
    }
    sessions = {log["source_id"]: log["session_id"] for log in logs}
    rows = [
        row
        for one in projections
        for row in _session_rows(one, sessions[one.source_id], parts, newest.get(one.source_id, -1))
    ]
    copies = sum(1 for stem in stems if stem in elsewhere)
    reasons = {
        "no token totals can be read from it": len(known) - len(projections),
        "the lake counts another copy of its session": copies,
        "its session is not in the lake": len(stems) - len(known) - copies,
    }
    left_out = [
        {"what": "cache files", "count": count, "reason": reason}
        for reason, count in reasons.items()
        if count
    ]
    return {"against": "projection", "rows": rows, "left_out": left_out}


def _cached_sessions(home: Path) -> list[str]:
    """The names of the sessions that DSH keeps figures of.

    Raises:
        UnreadableSource: it keeps none, so this is no DSH home.
    """
    folder = cache_path(_log_in(home, "any"))
    stems = sorted(file.stem for file in folder.parent.glob("*.json")) if folder else []
    if not stems:
        raise UnreadableSource(str(home), "no figures of DSH's in storages/session_projcache/sessions")
    return stems


def _counted_elsewhere(home: Path, logs: Iterable[Row]) -> set[str]:
    """The sessions whose log in this home is not the one that the lake counts."""
    here: dict[str, bool] = {}
    for log in logs:
        stem = _folder(log["path"])
        if cache_path(log["path"]) == cache_path(_log_in(home, stem)):
            here[stem] = here.get(stem, False) or log["is_counted"]
    return {stem for stem, is_counted in here.items() if not is_counted}


def _log_in(home: Path, session: str) -> str:
    """A path at which a log of the session could lie in this home: its figures are found by it, also where
    the lake has read the log in another place."""
    return os.fspath(home.resolve() / "sessions" / "_" / session / "session.jsonl")


def _folder(log: str) -> str:
    return Path(actual_path(log)).parent.name


def _parts(
    connection: Connection, projections: Iterable[Projection], zone: str
) -> dict[tuple[str, str], dict[str, Any]]:
    caches = [{"source_id": one.source_id, "seq": one.seq} for one in projections]
    parameters = {"caches": msgspec.json.encode(caches).decode(), "zone": zone}
    return {(row["source_id"], row["part"]): row for row in _fetch(connection, _BY_SESSION, parameters)}


def _session_rows(
    stated: Projection, session_id: str, parts: Mapping[tuple[str, str], Mapping[str, Any]], newest: int
) -> Iterator[Row]:
    def of(part: str) -> Tokens:
        row = parts.get((stated.source_id, part))
        return dict.fromkeys(_BUCKETS, 0) if row is None else {name: int(row[name] or 0) for name in _BUCKETS}

    ours, compaction, inherited, covered = map(of, ("ours", "compaction", "inherited", "covered"))
    about = parts.get((stated.source_id, "ours"), {})
    day = about.get("day")
    key = {"day": day and day.isoformat(), "model": about.get("model"), "session_id": session_id}
    theirs = {name: int(getattr(stated.totals, name)) for name in _BUCKETS}
    beyond = {name: theirs[name] - covered[name] for name in _BUCKETS}
    # The session went on after the scan: what DSH counts beyond is not in the lake yet.
    is_ahead = stated.seq > newest and all(tokens >= 0 for tokens in beyond.values())
    for name in _BUCKETS:
        lag = covered[name] - (ours[name] - compaction[name] + inherited[name])
        kinds = {
            "compaction": -compaction[name],
            "inherited": inherited[name],
            "stale": lag + (beyond[name] if is_ahead else 0),
        }
        yield {**_row(key, name, ours[name], theirs[name], kinds), "unreported_calls": None}


def _fetch(connection: Connection, query: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
    relation = run(connection, query, parameters)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
