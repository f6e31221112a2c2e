"""Whether a cassette header's ``createdAt`` is a date to the producer.

The rule: a text is a date exactly when V8's ``Date.parse`` gives a number for it. ISO forms are judged
strictly where they look like ISO; everything else goes to a lenient reader that continues where the
ISO reader stopped.

Source: spec/cassette.md section 6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dsh_lake.canonical import JS_WHITESPACE, utf16_units

_SPACES = frozenset(JS_WHITESPACE) - {"\u2028", "\u2029"}
"""Line and paragraph separators belong to words here."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HALVES = {"am": 0, "pm": 12}
_ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7,
}  # fmt: skip
_MAX_INSTANT_MS = 864 * 10**13

_USUAL = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{3})?Z"
).fullmatch
"""What recorders write, on days that every month has."""


def is_date(text: str) -> bool:
    """Whether V8's ``Date.parse`` accepts ``text``; local time counts as UTC."""
    if _USUAL(text):
        return True
    reader = _Reader(_tokens(_units(text)))
    try:
        _read_iso(reader)
        while reader.peek().kind != "end":
            _read_leniently(reader)
        return abs(_instant_ms(reader)) <= _MAX_INSTANT_MS
    except _Refused:
        return False


# --- tokens --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    """``kind`` is number, symbol, word, space, noise or end; ``value`` belongs to numbers only."""

    kind: str
    text: str = ""
    value: int = 0

    def has_digits(self, count: int, low: int, high: int) -> bool:
        """A number of exactly ``count`` digits within bounds."""
        return self.kind == "number" and len(self.text) == count and low <= self.value <= high

    @property
    def keyword(self) -> str:
        """The lower-case keyword that a word is, else the empty string."""
        prefix = self.text[:3].lower() if self.kind == "word" and self.text[:3].isascii() else ""
        is_short = len(self.text) <= 3 and (prefix in _ZONES or prefix in _HALVES or prefix == "t")
        return prefix if prefix in _MONTHS or is_short else ""


_END = _Token("end")


def _units(text: str) -> str:
    """``text`` with astral characters as two units, as JavaScript sees it."""
    octets = utf16_units(text)
    return "".join(chr(int.from_bytes(octets[i : i + 2], "big")) for i in range(0, len(octets), 2))


def _kind(unit: str) -> str:
    if "0" <= unit <= "9":
        return "number"
    if unit in ":-+.)":
        return "symbol"
    if unit in _SPACES:
        return "space"
    return "word" if unit >= "A" else "noise"


def _tokens(text: str) -> list[_Token]:
    text = text.partition("\0")[0]
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        start = position
        kind = _kind(text[start])
        position += 1
        if kind in ("number", "word"):
            while position < len(text) and _kind(text[position]) == kind:
                position += 1
        elif text[start] == "(":
            position = _after_parentheses(text, start)
        token = text[start:position]
        value = int(token.lstrip("0")[:9] or "0") if kind == "number" else 0
        tokens.append(_Token(kind, token, value))
    return tokens


def _after_parentheses(text: str, position: int) -> int:
    depth = 0
    while position < len(text):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            break
    return position


class _Refused(Exception):
    """The text is no date."""


@dataclass(slots=True)
class _Reader:
    """Tokens under a cursor, and what has been read from them so far."""

    tokens: list[_Token]
    position: int = 0
    has_number: bool = False
    is_iso: bool = False
    days: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    month: int | None = None
    half: int | None = None
    zone_sign: int | None = None
    zone_hour: int | None = None
    zone_minute: int | None = None

    def peek(self) -> _Token:
        return self.tokens[self.position] if self.position < len(self.tokens) else _END

    def next(self) -> _Token:
        token = self.peek()
        self.position += 1
        return token

    def skip(self, symbol: str) -> bool:
        found = self.peek().text == symbol and self.peek().kind == "symbol"
        self.position += found
        return found

    def take(self, count: int, low: int, high: int) -> int:
        """A number of ``count`` digits within bounds; anything else refuses the text."""
        if not self.peek().has_digits(count, low, high):
            raise _Refused
        return self.next().value

    def add_day(self, number: int) -> None:
        if len(self.days) == 3:
            raise _Refused
        self.days.append(number)

    def add_time(self, number: int) -> None:
        if len(self.times) == 4:
            raise _Refused
        self.times.append(number)

    def complete_time(self, number: int) -> None:
        self.times = [*self.times, number, 0, 0, 0][:4]

    def set_zone(self, sign: int, hour: int, minute: int | None) -> None:
        self.zone_sign, self.zone_hour, self.zone_minute = sign, hour, minute

    def expects_time(self, number: int) -> bool:
        return 1 <= len(self.times) <= 3 and number <= (59, 59, 999)[len(self.times) - 1]


# --- the strict reader ---------------------------------------------------------------------------


def _read_iso(reader: _Reader) -> None:
    """Read an ISO form, or as much of one as fits; the cursor stands where lenient reading goes on."""
    is_whole_date = _read_iso_date(reader)
    reader.has_number = bool(reader.days)
    if not is_whole_date:
        return
    if reader.peek().keyword == "t":
        reader.next()
        _read_iso_time(reader)
        if reader.peek().kind != "end":
            raise _Refused
    reader.is_iso = reader.peek().kind == "end"


def _read_iso_date(reader: _Reader) -> bool:
    """Whether a year with an optional month and day was read, and no ``-`` that leads nowhere."""
    first = reader.peek()
    if first.kind == "symbol" and first.text in "+-":
        reader.next()
        if not reader.peek().has_digits(6, 0, 999_999):
            reader.position -= 1
            return False
        year = reader.next().value
        if first.text == "-" and not year:  # year -0: V8 drops the digits and reads the sign once more
            del reader.tokens[reader.position - 1]
            reader.position -= 2
            return False
        reader.add_day(-year if first.text == "-" else year)
    elif first.has_digits(4, 0, 9999):
        reader.add_day(reader.next().value)
    else:
        return False
    for high in (12, 31):
        if not reader.skip("-"):
            break
        if not reader.peek().has_digits(2, 1, high):
            return False
        reader.add_day(reader.next().value)
    return True


def _read_iso_time(reader: _Reader) -> None:
    hour = reader.take(2, 0, 24)
    rest = 0 if hour == 24 else 59
    reader.add_time(hour)
    if not reader.skip(":"):
        raise _Refused
    reader.add_time(reader.take(2, 0, rest))
    if reader.skip(":"):
        reader.add_time(reader.take(2, 0, rest))
        if reader.skip("."):
            fraction = reader.next()
            if fraction.kind != "number" or (hour == 24 and fraction.value):
                raise _Refused
            reader.add_time(_milliseconds(fraction))
    if reader.peek().keyword == "z":
        reader.next()
        reader.set_zone(1, 0, 0)
    elif reader.peek().kind == "symbol" and reader.peek().text in "+-":
        sign = 1 if reader.next().text == "+" else -1
        if reader.peek().has_digits(4, 0, 2359):
            reader.set_zone(sign, reader.peek().value // 100, reader.peek().value % 100)
            if reader.next().value % 100 > 59:
                raise _Refused
        else:
            zone_hour = reader.take(2, 0, 23)
            if not reader.skip(":"):
                raise _Refused
            reader.set_zone(sign, zone_hour, reader.take(2, 0, 59))


def _milliseconds(fraction: _Token) -> int:
    """The first three digits of a fraction of a second."""
    length = min(len(fraction.text), 9)
    return fraction.value * 10 ** (3 - length) if length <= 3 else int(fraction.value // 10 ** (length - 3))


# --- the lenient reader --------------------------------------------------------------------------


def _read_leniently(reader: _Reader) -> None:
    token = reader.next()
    is_sign = token.kind == "symbol" and token.text in "+-"
    is_utc = reader.zone_hour == 0 and reader.zone_minute == 0
    if token.kind == "number":
        reader.has_number = True
        _read_number(reader, token.value)
    elif token.kind == "word":
        _read_word(reader, token.keyword)
    elif is_sign and (is_utc or reader.times):
        _read_offset(reader, 1 if token.text == "+" else -1)
    elif (is_sign or token.text == ")") and reader.has_number:
        raise _Refused


def _read_number(reader: _Reader, number: int) -> None:
    if reader.skip(":"):
        if reader.skip(":"):
            if reader.times:
                raise _Refused
            reader.times += [number, 0]
        else:
            reader.add_time(number)
            reader.skip(".")
    elif reader.skip(".") and reader.expects_time(number):
        reader.add_time(number)
        if reader.peek().kind != "number":
            raise _Refused
        reader.complete_time(_milliseconds(reader.next()))
    elif reader.zone_hour is not None and reader.zone_minute is None and number <= 59:
        reader.zone_minute = number
    elif reader.expects_time(number):
        reader.complete_time(number)
        after = reader.peek()
        if after.kind not in ("end", "space") and after.keyword != "z" and after.text not in ("+", "-"):
            raise _Refused
    else:
        reader.add_day(number)
        reader.skip("-")


def _read_word(reader: _Reader, keyword: str) -> None:
    if keyword in _HALVES and reader.times:
        reader.half = _HALVES[keyword]
    elif keyword in _MONTHS:
        reader.month = _MONTHS.index(keyword) + 1
        reader.skip("-")
    elif keyword in _ZONES and reader.has_number:
        hours = _ZONES[keyword]
        reader.set_zone(-1 if hours < 0 else 1, abs(hours), 0)
    elif reader.has_number or reader.peek().kind == "number":
        raise _Refused


def _read_offset(reader: _Reader, sign: int) -> None:
    digits = reader.next() if reader.peek().kind == "number" else _END
    reader.has_number = True
    length, number = len(digits.text), digits.value
    if reader.peek().kind == "symbol" and reader.peek().text == ":":
        reader.set_zone(sign, number, None)
    elif length in (1, 2):
        reader.set_zone(sign, number, 0)
    elif length in (3, 4):
        reader.set_zone(sign, number // 100, number % 100)
    else:
        raise _Refused


# --- the instant ---------------------------------------------------------------------------------


def _instant_ms(reader: _Reader) -> int:
    """Milliseconds since 1970 of what was read.

    Raises:
        _Refused: it is no date.
    """
    year, month, day = _year_month_day(reader)
    hour, minute, second, ms = _time_of_day(reader)
    offset = ((reader.zone_hour or 0) * 3600 + (reader.zone_minute or 0) * 60) % 2**32
    if offset > 2**31 - 1:
        raise _Refused
    seconds = _days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    return (seconds - (reader.zone_sign or 1) * offset) * 1000 + ms


def _year_month_day(reader: _Reader) -> tuple[int, int, int]:
    if not reader.days:
        raise _Refused
    first, second, third = (*reader.days, 1, 1)[:3]
    begins_with_day = 1 <= first <= 31
    if reader.month is not None:
        month = reader.month
        year, day = (second, first) if begins_with_day else (first, second)
    elif reader.is_iso or not begins_with_day:
        year, month, day = first, second, third
    else:
        month, day, year = first, second, third
    if not reader.is_iso and 0 <= year <= 99:
        year += 2000 if year <= 49 else 1900
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise _Refused
    return year, month, day


def _time_of_day(reader: _Reader) -> tuple[int, int, int, int]:
    hour, minute, second, ms = (*reader.times, 0, 0, 0, 0)[:4]
    if reader.half is not None:
        if hour > 12:
            raise _Refused
        hour = hour % 12 + reader.half
    is_midnight = (hour, minute, second, ms) == (24, 0, 0, 0)
    if not is_midnight and (hour > 23 or minute > 59 or second > 59 or ms > 999):
        raise _Refused
    return hour, minute, second, ms


def _days_since_1970(year: int, month: int, day: int) -> int:
    """Days of the proleptic Gregorian calendar; ``day`` may lie beyond the month's end."""
    shifted_year = year - (month <= 2)
    era, year_of_era = divmod(shifted_year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468
