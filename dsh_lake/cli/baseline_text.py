"""What ``dsh-lake baseline`` prints for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dsh_lake.cli.layout import NOTHING, Column, table
from dsh_lake.cli.numbers import percent
from dsh_lake.quantities import counted
from dsh_lake.terminal_text import terminal_text

Row = Mapping[str, Any]

_METHODS = (
    "A rate moved if its 95 % intervals do not overlap; anything else if the median of the days is more than",
    "three usual spreads (MAD) from the usual day. Below 20 trials or 5 earlier days nothing is judged.",
)
_UNLIKE = {
    "workspace": ("workspace", "not alike: that was of the workspace {}"),
    "model": ("model", "not alike: that was of the model {}"),
    "time_zone": ("time_zone", "not alike: its days were those of {}"),
    "period": ("covered_until", "not apart: this period begins before that one, up to {}, has ended"),
}
"""Of what makes a comparison one of different things, the member that says what was saved, and the words."""


def baseline_text(result: Mapping[str, Any], width: int | None) -> str:
    """What was measured; then the comparison if there is one, else all measures, and the groups."""
    comparison = result["comparison"]
    sections = [[_asked(result)]]
    if comparison is not None:
        sections.append(_comparison(comparison, width))
    else:
        sections.append(list(_measures(result["overall"])))
    if result["groups"]:
        sections.append(table(list(_columns(result["groups"], result["by"])), width))
    return "\n".join("".join(f"{line}\n" for line in section) for section in sections)


def _asked(result: Mapping[str, Any]) -> str:
    since, until = result["since"], result["until"]
    parts = [
        *([f"from {since}"] if since else []),
        *([f"before {until}"] if until else []),
        *([] if since or until else ["all times"]),
        f"days of {terminal_text(result['time_zone'])}",
        *(f"{word} {terminal_text(result[word])}" for word in ("workspace", "model") if result[word]),
    ]
    return ", ".join(parts)


# -- all measures of one row -------------------------------------------------------------------------------


def _measures(row: Row) -> Iterator[str]:
    facts = [
        ("sessions", _count(row["sessions"]), f"{row['subagent_sessions']:,} of them sub-agents"),
        ("turns", _count(row["turns"]), _failures(row, "turn", row["turns_failed"])),
        ("human messages", _count(row["human_messages"]), ""),
        ("tool calls", _count(row["tool_calls"]), _failures(row, "tool", row["tool_errors"])),
        ("interrupted", _count(row["tool_interrupted"]), "tool calls of killed or forked sessions"),
        ("retries", _count(row["retries"]), f"{counted(row['attempts'], 'attempt')} thrown away"),
        *(
            (
                name,
                _seconds(row[f"{measure}_p50"]),
                f"median; nine in ten within {_seconds(row[f'{measure}_p90'])}",
            )
            for name, measure in (
                ("a turn takes", "turn_duration_ms"),
                ("first token after", "first_token_ms"),
                ("a tool takes", "tool_duration_ms"),
            )
        ),
        ("input tokens", _count(row["input_tokens"]), ""),
        (
            "cache read",
            _count(row["cache_read_tokens"]),
            f"{percent(row['cache_read_share'])} of the prompts",
        ),
        ("cache write", _count(row["cache_write_tokens"]), ""),
        ("output", _count(row["output_tokens"]), f"{_count(row['reasoning_tokens'])} of them reasoning"),
        ("all tokens", _count(row["total_tokens"]), f"in {counted(row['billed_calls'], 'billed call')}"),
        ("cost", _cost(row), _unpriced(row)),
    ]
    longest = max(len(name) for name, _, _ in facts)
    places = max(len(value) for _, value, _ in facts)
    return (f"{name:<{longest}}  {value:>{places}}   {remark}".rstrip() for name, value, remark in facts)


def _failures(row: Row, of: str, count: int) -> str:
    rate, low, high = (row[f"{of}_error_rate{end}"] for end in ("", "_low", "_high"))
    if rate is None:
        return ""
    bounds = f"; 95 %: {percent(low)} to {percent(high)}" if low is not None else ""
    return f"{count:,} failed ({percent(rate)}{bounds})"


def _unpriced(row: Row) -> str:
    calls, tokens = row["unpriced_calls"], row["unpriced_tokens"]
    if not row["billed_calls"]:
        return ""
    if not calls:
        return "the cost of every call is known"
    return f"without {counted(calls, 'call')} of {_count(tokens)} tokens whose cost is not known"


# -- groups ------------------------------------------------------------------------------------------------


def _columns(rows: list[Row], by: str) -> Iterator[Column]:
    yield Column(by, [terminal_text(_key(row[by], by)) for row in rows], is_rigid=by in ("day", "week"))
    for heading, show, is_optional in (
        ("sessions", lambda row: _count(row["sessions"]), False),
        ("turns", lambda row: _count(row["turns"]), False),
        ("tools", lambda row: _count(row["tool_calls"]), False),
        ("errors", lambda row: _count(row["tool_errors"]), False),
        ("error rate", lambda row: percent(row["tool_error_rate"]), False),
        ("95 % interval", _interval, True),
        ("tool p50", lambda row: _seconds(row["tool_duration_ms_p50"]), True),
        ("p90", lambda row: _seconds(row["tool_duration_ms_p90"]), True),
        ("tokens", lambda row: _count(row["total_tokens"]), False),
        ("cached", lambda row: percent(row["cache_read_share"]), False),
        ("cost", _cost, True),
    ):
        shown = [show(row) for row in rows]
        if set(shown) != {NOTHING}:
            yield Column(heading, shown, is_number=True, is_optional=is_optional)


def _key(key: str | None, by: str) -> str:
    if key is None:
        return NOTHING
    if by == "workspace":
        return key.strip("-") or key
    return key.removeprefix("session-") if by == "session" else key


def _interval(row: Row) -> str:
    low, high = row["tool_error_rate_low"], row["tool_error_rate_high"]
    return NOTHING if low is None else f"{percent(low)} to {percent(high)}"


# -- the comparison ----------------------------------------------------------------------------------------


def _comparison(comparison: Row, width: int | None) -> list[str]:
    found = comparison["measures"]
    days = comparison["days"]
    columns = [
        Column("measure", [shift["measure"] for shift in found], is_rigid=True),
        *(
            Column(heading, [_value(shift, name) for shift in found], is_number=True)
            for heading, name in (("then", "then"), ("now", "now"), ("change", "change"))
        ),
        Column("usual", [_usual(shift) for shift in found], is_number=True, is_optional=True),
        Column("verdict", [_verdict(shift) for shift in found]),
    ]
    return [
        f"against {comparison['name']}, saved {comparison['saved_at']}: "
        f"{counted(days['then'], 'whole day')} then, {days['now']:,} now",
        *(_unlike(comparison, word) for word in comparison["unlike"]),
        "",
        *table(columns, width),
        "",
        *_METHODS,
        f"{counted(comparison['moved'], 'measure')} moved" if comparison["moved"] else "nothing moved",
    ]


def _unlike(comparison: Row, word: str) -> str:
    member, words = _UNLIKE[word]
    saved = comparison[member]
    return words.format("(all)" if saved is None else terminal_text(saved))


def _value(shift: Row, name: str) -> str:
    value = shift[name]
    if value is None:
        return NOTHING
    if name != "change":
        return _shown(shift["measure"])(value)
    shown = _shown(shift["measure"])(value)
    return ("+" if value > 0 else "") + shown.replace("%", " points")


def _usual(shift: Row) -> str:
    show = _shown(shift["measure"])
    return NOTHING if shift["low"] is None else f"{show(shift['low'])} to {show(shift['high'])}"


def _shown(measure: str) -> Callable[[float], str]:
    if "_rate" in measure or "_share" in measure:
        return percent
    if "_ms_" in measure:
        return _seconds
    return (lambda value: f"{value:,.4f}") if measure == "cost" else _number


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _verdict(shift: Row) -> str:
    if shift["verdict"] != "too few":
        return str(shift["verdict"])
    one = "day" if shift["method"] == "days" else "trial"
    return f"too few: {counted(shift['then_count'], one)} then, {shift['now_count']:,} now"


# -- values ------------------------------------------------------------------------------------------------


def _count(count: int | None) -> str:
    return NOTHING if count is None else f"{count:,}"


def _seconds(duration_ms: float | None) -> str:
    return NOTHING if duration_ms is None else f"{duration_ms / 1000:,.2f} s"


def _cost(row: Row) -> str:
    """To a hundredth of a cent; what calls without a price may add to is at least that much."""
    cost = row["cost"]
    return NOTHING if cost is None else f"{'≥' if row['unpriced_calls'] else ''}{cost:,.4f} {row['currency']}"
