"""The measures of a lake over a period: overall, by a grain, and against those of an earlier period.

The rule: what is measured is decided by leaving out rows (``queries/views/baseline_activity.sql``) before
anything is summed, so that every share is a ratio of sums of just what was asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from dsh_lake import saved_baselines
from dsh_lake.connection import connect
from dsh_lake.engine import fetch_rows, keep, set_variable
from dsh_lake.errors import QueryFailed, UsageError
from dsh_lake.lake import Lake, default_lake
from dsh_lake.shifts import shifts

if TYPE_CHECKING:
    import pyarrow as pa

    from dsh_lake.engine import Connection

GRAINS = ("day", "week", "model", "workspace", "tool", "session")

When = str | date | datetime
"""A day (its beginning), or an instant; text is ISO 8601. Without an offset the time is a local one."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """What is measured: ``since`` and ``until`` are instants."""

    since: datetime | None
    until: datetime | None
    workspace: str | None
    model: str | None


def baseline(
    lake: str | os.PathLike[str] | None = None,
    *,
    by: str | None = None,
    since: When | None = None,
    until: When | None = None,
    workspace: str | None = None,
    model: str | None = None,
    save: str | None = None,
    compare: str | None = None,
    time_zone: str | None = None,
    as_of: str | None = None,
) -> dict[str, Any]:
    """The measures of what agents did, overall and by a grain.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        by: ``day``, ``week``, ``model``, ``workspace``, ``tool`` or ``session``.
        since: only what happened at or after that day or instant.
        until: only what happened before it; a day is its beginning, so that day itself is not in it.
        workspace: only sessions of that workspace: the name of its folder, dashes at its ends left out or
            not, or the working directory of its sessions.
        model: only what belongs to that model (see the view ``activity``).
        save: keep the result under this name, in the lake's folder ``baselines``.
        compare: say what moved since the baseline of that name was saved. Without ``since`` that is
            everything after what it covers; without ``workspace`` and ``model`` its own are taken.
        time_zone: where days begin, such as ``Asia/Shanghai``; by default the zone of the machine, and with
            ``compare`` that of the saved one.
        as_of: ``scan_id`` of an earlier scan.

    Returns:
        ``scan_id``, ``time_zone``, ``since``, ``until``, ``workspace``, ``model`` and ``by`` as they were
        understood; ``covered_until``, the end of the period or just after the last thing that happened;
        ``overall``, the measures by name (those of the view ``baseline_overall``); ``groups``, a list of the
        same with the grain's own value before them under its name, empty without ``by``; and ``comparison``,
        null without ``compare``: ``name``, ``saved_at``, ``scan_id``, ``since``, ``until``,
        ``covered_until``, ``time_zone``, ``workspace`` and ``model`` of what was saved; ``unlike`` (which of
        workspace, model and time_zone is another one now, and period where this one begins before that one
        has ended); ``days`` (how many of ``then`` and ``now`` are compared), ``moved`` (how many measures
        did) and ``measures``, those of :func:`dsh_lake.shifts.shifts`, whose module says how they are
        judged. Durations are milliseconds, costs are in ``currency``, instants ISO 8601. Unknown is null.

    Raises:
        UsageError: a day, grain, name, time zone, workspace or model makes no sense here.
        LakeError: there is no lake, or no such scan, or the saved baseline cannot be read.
        BadPrices: the lake's ``prices.csv`` cannot be used.
    """
    if by is not None and by not in GRAINS:
        raise UsageError(f"by is {by!r}, not one of {', '.join(GRAINS)}")
    if save is not None:
        saved_baselines.check_name(save)
    folder = Lake(lake if lake is not None else default_lake()).path
    with connect(folder, as_of=as_of) as connection:
        saved = saved_baselines.load(folder, compare) if compare is not None else None
        if saved is not None:
            time_zone = time_zone or saved["time_zone"]
            if workspace is None and model is None:
                workspace, model = saved["workspace"], saved["model"]
            since = since if since is not None else saved["covered_until"]
        set_variable(connection, "time_zone", time_zone)
        selection = _selected(connection, since, until, workspace, model)
        result = _measured(connection, selection, by)
        days = _whole_days(connection, result) if save is not None or saved is not None else []
    comparison = _comparison(saved, result, days) if saved is not None else None
    if save is not None:
        saved_at = _iso(datetime.now(UTC).replace(microsecond=0))
        saved_baselines.save(folder, save, {"name": save, "saved_at": saved_at, **result, "days": days})
    return {**result, "comparison": comparison}


def baseline_rows(result: Mapping[str, Any]) -> pa.RecordBatchReader:
    """What :func:`baseline` gives as rows: the comparison if there is one, else groups, else overall."""
    import pyarrow as pa

    if result["comparison"] is not None:
        rows = result["comparison"]["measures"]
    else:
        rows = result["groups"] if result["by"] is not None else [result["overall"]]
    columns = [*rows[0]] if rows else [result["by"], *result["overall"]]
    fields = [pa.field(name, _arrow_type(name)) for name in columns]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields)).to_reader()


_TEXTS = {*GRAINS, "first_at", "last_at", "currency", "measure", "method", "verdict"}
_NUMBERS = {"cost", "cache_read_share", "then", "now", "change", "low", "high"}


def _arrow_type(name: str) -> pa.DataType:
    import pyarrow as pa

    if name in _TEXTS:
        return pa.large_string()
    return pa.float64() if name in _NUMBERS or "_rate" in name else pa.int64()


# -- what is asked for -------------------------------------------------------------------------------------


def _selected(
    connection: Connection,
    since: When | None,
    until: When | None,
    workspace: str | None,
    model: str | None,
) -> _Selection:
    begin, end = _instant(connection, "since", since), _instant(connection, "until", until)
    if begin is not None and end is not None and begin >= end:
        raise UsageError(f"nothing lies between since {_iso(begin)} and until {_iso(end)}")
    selection = _Selection(begin, end, _workspace(connection, workspace), _model(connection, model))
    for name in ("since", "until"):
        set_variable(connection, name, _iso(getattr(selection, name)))
    set_variable(connection, "workspace", selection.workspace)
    set_variable(connection, "model", selection.model)
    return selection


def _instant(connection: Connection, word: str, when: When | None) -> datetime | None:
    """The instant that is meant; local times are those of the connection's time zone."""
    if when is None:
        return None
    try:
        moment = when if isinstance(when, date) else datetime.fromisoformat(when)
    except ValueError as error:
        raise UsageError(f"{word} is {when!r}, no day like 2026-11-30 and no instant of ISO 8601") from error
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        zone = "getvariable('time_zone')::varchar"
        (row,) = _fetch(connection, f"select timezone({zone}, '{moment.isoformat()}'::timestamp) as moment")
        moment = row["moment"]
    return moment.astimezone(UTC)


def _fetch(connection: Connection, query: str) -> list[dict[str, Any]]:
    """Rows of a question about the time zone, which may be none."""
    try:
        return fetch_rows(connection, query)
    except QueryFailed as error:
        raise UsageError(f"the time zone cannot be used: {str(error).splitlines()[0]}") from error


def _workspace(connection: Connection, wanted: str | None) -> str | None:
    if wanted is None:
        return None
    places = fetch_rows(
        connection, "select distinct workspace, cwd from sessions where workspace is not null"
    )
    known = {place["workspace"] for place in places}
    same = {name for name in known if name == wanted}
    same = same or {name for name in known if name.strip("-") == wanted.strip("-")}
    same = same or {place["workspace"] for place in places if place["cwd"] == wanted}
    return _only("workspace", wanted, same, known)


def _model(connection: Connection, wanted: str | None) -> str | None:
    if wanted is None:
        return None
    models = fetch_rows(connection, "select distinct model from billed_usage where model is not null")
    known = {row["model"] for row in models}
    return _only("model", wanted, known & {wanted}, known)


def _only(word: str, wanted: str, found: set[str], known: set[str]) -> str:
    if len(found) != 1:
        listed = ", ".join(sorted(found or known)[:10]) or "none"
        reason = "means several" if found else "is not in this lake, which has"
        raise UsageError(f"the {word} {wanted!r} {reason}: {listed}")
    (name,) = found
    return name


# -- what is measured --------------------------------------------------------------------------------------


def _measured(connection: Connection, selection: _Selection, by: str | None) -> dict[str, Any]:
    (period,) = _fetch(connection, "from baseline_period")
    keep(connection, "baseline_activity")  # the whole and every grain are sums of it
    (overall,) = fetch_rows(connection, "from baseline_overall")
    last = overall["last_at"]
    covered_until = selection.until or (last and last + timedelta(microseconds=1))
    return {
        "scan_id": period["scan_id"],
        "time_zone": period["time_zone"],
        "since": _iso(selection.since),
        "until": _iso(selection.until),
        "covered_until": _iso(covered_until),
        "workspace": selection.workspace,
        "model": selection.model,
        "by": by,
        "overall": _spelled(overall),
        "groups": _groups(connection, by) if by is not None else [],
    }


def _groups(connection: Connection, by: str) -> list[dict[str, Any]]:
    set_variable(connection, "grain", by)
    return [{by: row.pop("key"), **_spelled(row)} for row in fetch_rows(connection, "from baseline_groups")]


def _spelled(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _iso(value) if isinstance(value, datetime) else value for name, value in row.items()}


def _whole_days(connection: Connection, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The measures of each day that the period covers whole; that of the scan itself was not over."""
    (period,) = fetch_rows(connection, "from baseline_period")
    first, end, scanned = (
        period[name] and str(period[name]) for name in ("first_day", "end_day", "scan_day")
    )
    return [
        day
        for day in (result["groups"] if result["by"] == "day" else _groups(connection, "day"))
        if day["day"] is not None
        and (first is None or day["day"] >= first)
        and (end is None or day["day"] < end)
        and day["day"] != scanned
    ]


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


# -- then and now ------------------------------------------------------------------------------------------


def _unlike(saved: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[str]:
    """What makes the comparison one of different things, which may be what is wanted."""
    yield from (word for word in ("workspace", "model", "time_zone") if saved[word] != result[word])
    begin, end = result["since"], saved["covered_until"]
    if end is not None and (begin is None or datetime.fromisoformat(begin) < datetime.fromisoformat(end)):
        yield "period"


def _comparison(
    saved: Mapping[str, Any], result: Mapping[str, Any], days: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    found = shifts(saved["overall"], saved["days"], result["overall"], days)
    return {
        **{
            word: saved[word]
            for word in (
                *("name", "saved_at", "scan_id", "since", "until", "covered_until"),
                *("time_zone", "workspace", "model"),
            )
        },
        "unlike": list(_unlike(saved, result)),
        "days": {"then": len(saved["days"]), "now": len(days)},
        "moved": sum(shift["verdict"] == "moved" for shift in found),
        "measures": found,
    }
