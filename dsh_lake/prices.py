"""What models cost: the price rows that are shipped, and those of a user's own file, as one dated list.

The rule: a name is priced only by rows that give exactly that name. A row either has figures or says that its
name is priced as another (``same_as``); both hold from an instant to an instant. Rows of the user's file
(``prices.csv`` in the folder of the lake) stand in the place of all shipped rows of the names that they give.
What the columns mean is told in ``docs/prices.md``.

Everything that could make a price ambiguous is refused here, with the line: what comes out has at most one
row with hours, and one without, for any name, currency and instant.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dsh_lake import sqlassets
from dsh_lake.errors import BadPrices

FILE_NAME = "prices.csv"
"""Name of the shipped file in ``queries``, and of the user's in the folder of a lake."""

COLUMNS = (
    "model",
    "same_as",
    "valid_from",
    "valid_to",
    "hours_utc",
    "days",
    "days_utc_offset",
    "currency",
    "cache_read",
    "input",
    "cache_write",
    "output",
    "price_id",
    "source",
    "remark",
)
_FIGURES = ("cache_read", "input", "cache_write", "output")
_OF_FIGURES = (*_FIGURES, "hours_utc", "days", "days_utc_offset", "currency")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_MINUTES = 24 * 60
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)
_DECIMALS = 9


class Window(NamedTuple):
    """Part of a day of the week in UTC: ISO weekday, first minute, minute after the last."""

    weekday: int
    from_minute: int
    to_minute: int


@dataclass(frozen=True, slots=True)
class Price:
    """What a name costs in a span of time, per million tokens.

    ``model`` is the name that a call gives, ``priced_as`` the one whose row has the figures. ``windows`` is
    empty for a row that holds whenever none with hours does.
    """

    price_id: str
    model: str
    priced_as: str
    currency: str
    valid_from: datetime
    valid_to: datetime
    hours_utc: str | None
    days: str | None
    days_utc_offset: str | None
    windows: tuple[Window, ...]
    cache_read: Decimal
    input: Decimal
    cache_write: Decimal
    output: Decimal
    is_own: bool
    source: str | None
    remark: str | None


@dataclass(frozen=True, slots=True)
class _Alias:
    """A name that is priced as another one in a span of time."""

    model: str
    same_as: str
    valid_from: datetime
    valid_to: datetime


class _Row(NamedTuple):
    """A row of a file, and the place to name when it is wrong."""

    place: str
    content: Price | _Alias


def of_lake(folder: Path) -> tuple[Price, ...]:
    """The prices that hold for a lake: the shipped ones and those of its ``prices.csv``, if it has one.

    Raises:
        BadPrices: the file cannot be used; the message names the line.
    """
    path = folder / FILE_NAME
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return shipped()
    except UnicodeDecodeError as error:
        raise BadPrices(str(path), "the file is no UTF-8 text") from error
    except OSError as error:
        raise BadPrices(str(path), str(error)) from error
    return _resolved([*_without(_shipped_rows(), own := _parse(text, str(path), is_own=True)), *own])


@cache
def shipped() -> tuple[Price, ...]:
    """The prices that travel with the package."""
    return _resolved(_shipped_rows())


def parse(text: str, place: str) -> tuple[Price, ...]:
    """The prices of one file by itself.

    Raises:
        BadPrices: see :func:`of_lake`; ``place`` is named as the file.
    """
    return _resolved(_parse(text, place, is_own=True))


def to_json(prices: Iterable[Price]) -> str:
    """Prices as a JSON list, the form in which the catalog keeps them: figures are text with all digits,
    instants without bound are null."""
    return json.dumps([_members(price) for price in prices])


def _members(price: Price) -> dict[str, object]:
    members: dict[str, object] = {name: getattr(price, name) for name in Price.__slots__}
    members.update({name: str(getattr(price, name)) for name in _FIGURES})
    members["valid_from"] = None if price.valid_from == _BEGINNING else price.valid_from.isoformat()
    members["valid_to"] = None if price.valid_to == _END else price.valid_to.isoformat()
    members["windows"] = [window._asdict() for window in price.windows]
    return members


# -- rows of a file ----------------------------------------------------------------------------------------


def _shipped_rows() -> Sequence[_Row]:
    return _parse((sqlassets.root() / FILE_NAME).read_text("utf-8"), FILE_NAME, is_own=False)


def _parse(text: str, place: str, *, is_own: bool) -> list[_Row]:
    reader = csv.reader(io.StringIO(text), strict=True)
    rows: list[_Row] = []
    names: list[str] | None = None
    try:
        for cells in reader:
            here = f"{place}#L{reader.line_num}"
            values = [cell.strip() for cell in cells]
            if not any(values) or values[0].startswith("#"):
                continue
            if names is None:
                names = _header(values, here)
            elif len(values) != len(names):
                raise BadPrices(here, f"{len(values)} values, where the header names {len(names)} columns")
            else:
                given = {name: value for name, value in zip(names, values, strict=True) if value}
                rows.append(_Row(here, _content(given, here, is_own=is_own)))
    except csv.Error as error:
        raise BadPrices(f"{place}#L{reader.line_num}", f"this is no CSV: {error}") from error
    _check_ids(rows)
    return rows


def _header(names: list[str], here: str) -> list[str]:
    if unknown := [name for name in names if name not in COLUMNS]:
        raise BadPrices(here, f"no column is called {unknown[0]!r}; there are {', '.join(COLUMNS)}")
    if len(set(names)) < len(names):
        raise BadPrices(here, "a column is named twice")
    if "model" not in names:
        raise BadPrices(here, "the header has to name the column model")
    return names


def _check_ids(rows: Iterable[_Row]) -> None:
    seen: dict[str, str] = {}
    for place, content in rows:
        if isinstance(content, Price):
            if content.price_id in seen:
                raise BadPrices(place, f"price_id {content.price_id!r} is that of {seen[content.price_id]}")
            seen[content.price_id] = place


def _content(given: Mapping[str, str], here: str, *, is_own: bool) -> Price | _Alias:
    if "model" not in given:
        raise BadPrices(here, "model is empty")
    valid_from = _instant(given, "valid_from", here) or _BEGINNING
    valid_to = _instant(given, "valid_to", here) or _END
    if valid_from >= valid_to:
        raise BadPrices(here, "valid_to is not after valid_from")
    if "same_as" not in given:
        return _price(given, here, valid_from, valid_to, is_own=is_own)
    if beside := [name for name in _OF_FIGURES if name in given]:
        raise BadPrices(here, f"a row with same_as takes its prices from there: {beside[0]} has to be empty")
    return _Alias(given["model"], given["same_as"], valid_from, valid_to)


def _price(
    given: Mapping[str, str], here: str, valid_from: datetime, valid_to: datetime, *, is_own: bool
) -> Price:
    currency = given.get("currency", "")
    if not re.fullmatch("[A-Z]{3}", currency):
        raise BadPrices(here, f"currency is {currency!r}, not three capital letters such as USD")
    figures = {name: _figure(given, name, here) for name in _FIGURES if name in given}
    if missing := [name for name in ("cache_read", "input", "output") if name not in figures]:
        raise BadPrices(here, f"{missing[0]} is empty: it takes the price of a million tokens")
    return Price(
        price_id=given.get("price_id", here.rpartition("/")[2]),
        model=given["model"],
        priced_as=given["model"],
        currency=currency,
        valid_from=valid_from,
        valid_to=valid_to,
        hours_utc=given.get("hours_utc"),
        days=given.get("days"),
        days_utc_offset=given.get("days_utc_offset"),
        windows=_windows(given, here),
        cache_write=figures.pop("cache_write", figures["input"]),
        **figures,
        is_own=is_own,
        source=given.get("source"),
        remark=given.get("remark"),
    )


def _figure(given: Mapping[str, str], name: str, here: str) -> Decimal:
    try:
        figure = Decimal(given[name])
    except InvalidOperation:
        figure = Decimal("nan")
    if not 0 <= figure < 10**_DECIMALS if figure.is_finite() else True:
        raise BadPrices(here, f"{name} is {given[name]!r}, not a price of a million tokens such as 0.435")
    if figure != round(figure, _DECIMALS):
        raise BadPrices(here, f"{name} is {given[name]!r}: more than {_DECIMALS} decimals")
    return figure


def _instant(given: Mapping[str, str], name: str, here: str) -> datetime | None:
    if name not in given:
        return None
    try:
        instant = datetime.fromisoformat(given[name])
    except ValueError as error:
        raise BadPrices(
            here, f"{name} is {given[name]!r}, not an instant such as 2026-08-16T16:00Z or 2026-08-16"
        ) from error
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


# -- hours -------------------------------------------------------------------------------------------------


def _windows(given: Mapping[str, str], here: str) -> tuple[Window, ...]:
    """The parts of a UTC week that hours on some days are; the days begin where ``days_utc_offset`` says."""
    if "hours_utc" not in given and "days" not in given:
        if "days_utc_offset" in given:
            raise BadPrices(here, "days_utc_offset says where days begin, and there are no days")
        return ()
    spans = [_hours(span, here) for span in given.get("hours_utc", "00:00-24:00").split()]
    days = {day for span in given.get("days", "mon-sun").split() for day in _day_range(span, here)}
    offset = _offset(given.get("days_utc_offset", "+00:00"), here)
    midnight = -offset % _DAY_MINUTES
    found = []
    for first, last in sorted(spans):
        edges = [first, *([midnight] if first < midnight < last else []), last]
        for start, end in pairwise(edges):
            for weekday in range(7):
                if (weekday + (start + offset) // _DAY_MINUTES) % 7 in days:
                    found.append(Window(weekday + 1, start, end))
    found.sort()
    if any(_meet(one, other) for one, other in pairwise(found)):
        raise BadPrices(here, "hours_utc names some hours twice")
    return tuple(found)


def _meet(one: Window, other: Window) -> bool:
    is_same_day = one.weekday == other.weekday
    return is_same_day and one.from_minute < other.to_minute and other.from_minute < one.to_minute


def _hours(span: str, here: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d\d):(\d\d)-(\d\d):(\d\d)", span)
    if match:
        hour, minute, to_hour, to_minute = map(int, match.groups())
        first, last = hour * 60 + minute, to_hour * 60 + to_minute
        if minute < 60 and to_minute < 60 and first < last <= _DAY_MINUTES:
            return first, last
    raise BadPrices(here, f"hours_utc has {span!r}, not hours of one UTC day such as 01:00-04:00")


def _day_range(span: str, here: str) -> Iterator[int]:
    first, dash, last = span.lower().partition("-")
    if first not in _DAYS or (dash and last not in _DAYS):
        raise BadPrices(here, f"days has {span!r}, not days such as mon-fri or sat")
    begin, end = _DAYS.index(first), _DAYS.index(last or first)
    return (day % 7 for day in range(begin, end + 1 + 7 * (end < begin)))


def _offset(text: str, here: str) -> int:
    match = re.fullmatch(r"([+-])(\d\d):(\d\d)", text)
    if match is None or int(match[2]) > 14 or int(match[3]) > 59:
        raise BadPrices(here, f"days_utc_offset is {text!r}, not an offset such as +08:00")
    return (int(match[2]) * 60 + int(match[3])) * (-1 if match[1] == "-" else 1)


# -- from rows to prices -----------------------------------------------------------------------------------


def _without(rows: Iterable[_Row], own: Iterable[_Row]) -> Iterator[_Row]:
    """The rows of names that none of the user's rows gives."""
    named = {row.content.model for row in own}
    return (row for row in rows if row.content.model not in named)


def _resolved(rows: Sequence[_Row]) -> tuple[Price, ...]:
    by_name: dict[str, list[_Row]] = {}
    for row in rows:
        by_name.setdefault(row.content.model, []).append(row)
    prices: list[Price] = []
    for name in by_name:
        of_name: list[tuple[str, Price]] = []
        for row in by_name[name]:
            for price in _prices_of(row, by_name, (name,)):
                _check_overlap(row.place, price, of_name)
                of_name.append((row.place, price))
        prices += (price for _, price in of_name)
    return tuple(prices)


def _prices_of(row: _Row, by_name: Mapping[str, Sequence[_Row]], above: tuple[str, ...]) -> Iterator[Price]:
    """The prices that a row gives its name: its own, or within its time those of the name it refers to."""
    content = row.content
    if isinstance(content, Price):
        yield content
        return
    if content.same_as in above:
        raise BadPrices(row.place, f"same_as leads in a circle: {' -> '.join([*above, content.same_as])}")
    if content.same_as not in by_name:
        raise BadPrices(row.place, f"same_as is {content.same_as!r}, a name without a price row")
    for other in by_name[content.same_as]:
        for price in _prices_of(other, by_name, (*above, content.same_as)):
            valid_from = max(price.valid_from, content.valid_from)
            valid_to = min(price.valid_to, content.valid_to)
            if valid_from < valid_to:
                yield replace(price, model=content.model, valid_from=valid_from, valid_to=valid_to)


def _check_overlap(place: str, price: Price, others: Iterable[tuple[str, Price]]) -> None:
    for other_place, other in others:
        if (
            price.currency == other.currency
            and price.valid_from < other.valid_to
            and other.valid_from < price.valid_to
            and bool(price.windows) == bool(other.windows)
            and (not price.windows or any(_meet(one, two) for one in price.windows for two in other.windows))
        ):
            raise BadPrices(place, f"{price.model} has another price at the same time in {other_place}")
