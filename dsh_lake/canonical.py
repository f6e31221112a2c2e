"""Canonical JSON text and SHA-256 digests, exactly as the cassette producer defines them.

The rule: two JSON texts that a JavaScript engine reads as the same value have one canonical text, byte
for byte the producer's. Members are sorted by UTF-16 units, numbers are doubles in their shortest
JavaScript spelling, lone surrogates are escaped; negative zero and non-finite numbers have no text.
No result depends on the interpreter's recursion limit or on its limit for integer digits: C code reads
what is shallow, an iterative reader the rest.

Values are plain Python: dict, list, str, bool, None, and for numbers an int where the double is a
whole number of at most 2^53 that was spelled as an integer, else a float.

Source: spec/cassette.md sections 1 (JSON) and 2 (canonical JSON and digests).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from json.encoder import encode_basestring as _quote
from typing import NoReturn, TypeAlias

from dsh_lake.errors import CanonicalError, DuplicateMember, MalformedJson

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

JS_WHITESPACE = (
    "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript trims and calls blank; neither U+0085 nor U+001C to U+001F belong to it."""

MAX_SAFE_INTEGER = 2**53 - 1
_EXACT_INTEGER = 2**53
"""Up to here every integer is a double, so its decimal text is also its canonical text."""

_C_DEPTH = 200
"""Nesting that C code may read by recursion: far below every interpreter's limit."""


# --- reading -------------------------------------------------------------------------------------


def parse_json(text: str, *, unique_members: bool = False) -> JsonValue:
    """The value of one RFC 8259 text, with numbers as doubles, at any depth.

    Of members with equal names the last one wins, as in ``JSON.parse``. A syntax error takes
    precedence over a duplicate member anywhere in the text.

    Raises:
        MalformedJson: not JSON (NaN, leading zeros, raw control characters, text after the value).
        DuplicateMember: ``unique_members`` is set and some object, at any depth, repeats a name
            (compared after unescaping).
    """
    if not is_deep(text):
        try:
            return _parse_by_c(text, unique_members)
        except RecursionError:
            pass  # the caller itself stands near the interpreter's limit
    value, has_duplicate = _parse_iteratively(text)
    if unique_members and has_duplicate:
        raise DuplicateMember("unique member names", "a repeated name")
    return value


def is_deep(text: str) -> bool:
    """Whether JSON ``text`` nests deeper than C parsers may be trusted to recurse.

    For text that is not JSON the answer means nothing. Cheap for the usual text, which has few
    brackets; otherwise brackets are peeled from the inside, one level a round.
    """
    if text.count("[") + text.count("{") <= _C_DEPTH:
        return False
    brackets = _NOT_BRACKETS.sub("", text)
    for _ in range(_C_DEPTH):
        if not brackets:
            return False
        brackets = brackets.replace("[]", "").replace("{}", "")
    return bool(brackets)


_NOT_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\[\]{}"]+', re.DOTALL)


class _RepeatedName(Exception):
    """Leaves the C parser at the first duplicate member."""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _integer(digits: str) -> int | float:
    """The double that an integer token denotes, as an int where that is exact."""
    if len(digits) < 16:
        return int(digits) or (-0.0 if digits[0] == "-" else 0)
    number = float(digits)
    return int(number) if -_EXACT_INTEGER <= number <= _EXACT_INTEGER and number else number


def _unique(members: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    mapping = dict(members)
    if len(mapping) != len(members):
        raise _RepeatedName
    return mapping


_LAST_WINS = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse_constant)
_NO_REPEATS = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse_constant, object_pairs_hook=_unique)


def _parse_by_c(text: str, unique_members: bool) -> JsonValue:
    try:
        if not unique_members:
            return _checked(_LAST_WINS.decode(text))
        try:
            return _checked(_NO_REPEATS.decode(text))
        except _RepeatedName:
            _LAST_WINS.decode(text)  # a syntax error behind the duplicate comes first
    except ValueError:
        raise MalformedJson("a JSON value", "text that is none") from None
    raise DuplicateMember("unique member names", "a repeated name")


def _checked(value: object) -> JsonValue:
    """``value`` with its type: what the decoders above build is JSON by construction."""
    return value  # type: ignore[return-value]


_STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_TOKEN = re.compile(
    rf"[ \t\n\r]*(?:(?P<string>{_STRING})|(?P<number>{_NUMBER})"
    r"|(?P<word>true|false|null)|(?P<mark>[\[\]{},:]))"
)
_REST = re.compile(r"[ \t\n\r]*")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each token; the last one is ``("end", "")``."""
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        kind = match.lastgroup or ""
        yield kind, match.group(kind)
    rest = _REST.match(text, position)
    if rest is None or rest.end() != len(text):
        _malformed()
    yield "end", ""


def _malformed() -> NoReturn:
    raise MalformedJson("a JSON value", "text that is none")


def _scalar(kind: str, token: str) -> JsonValue:
    if kind == "string":
        return token[1:-1] if "\\" not in token else _checked(_LAST_WINS.decode(token))
    if kind == "number":
        return float(token) if not token.lstrip("-").isdigit() else _integer(token)
    if kind == "word":
        return _WORDS[token]
    return _malformed()


def _parse_iteratively(text: str) -> tuple[JsonValue, bool]:
    """The value of ``text`` and whether an object in it repeats a name; memory as the value itself."""
    tokens = _tokens(text)
    open_containers: list[list[JsonValue] | dict[str, JsonValue]] = []
    names: list[str] = []
    has_duplicate = False
    kind, token = next(tokens)
    while True:
        # One value begins at (kind, token); names[-1] is its name when it stands in an object.
        value: JsonValue
        if kind == "mark" and token in "[{":
            container: list[JsonValue] | dict[str, JsonValue] = [] if token == "[" else {}
            kind, token = next(tokens)
            if token != ("]" if isinstance(container, list) else "}") or kind != "mark":
                open_containers.append(container)
                if isinstance(container, dict):
                    names.append(_member_name(kind, token, tokens))
                    kind, token = next(tokens)
                continue
            value = container
        else:
            value = _scalar(kind, token)
        # The value is complete: put it in its container, and close containers that end here.
        while True:
            kind, token = next(tokens)
            if not open_containers:
                return (value, has_duplicate) if kind == "end" else _malformed()
            container = open_containers[-1]
            if isinstance(container, list):
                container.append(value)
            else:
                name = names.pop()
                has_duplicate = has_duplicate or name in container
                container[name] = value
            if kind != "mark":
                _malformed()
            if token == ",":
                kind, token = next(tokens)
                if isinstance(container, dict):
                    names.append(_member_name(kind, token, tokens))
                    kind, token = next(tokens)
                break
            if token != ("]" if isinstance(container, list) else "}"):
                _malformed()
            value = open_containers.pop()


def _member_name(kind: str, token: str, tokens: Iterator[tuple[str, str]]) -> str:
    name = _scalar(kind, token) if kind == "string" else _malformed()
    if next(tokens) != ("mark", ":") or not isinstance(name, str):
        _malformed()
    return name


# --- writing -------------------------------------------------------------------------------------


def canonical_text(value: object) -> str:
    """The one canonical text of a JSON value, at any depth; well-formed Unicode.

    Raises:
        CanonicalError: the value holds a non-finite number, negative zero, or what is not JSON
            (another type, a member name that is no string). Cyclic values are the caller's to avoid.
    """
    return _text(value, sorted_names, _scalar_text)


def json_text(value: object) -> str:
    """``JSON.stringify(value)``: compact, members in their own order, at any depth; well-formed Unicode.

    Negative zero is ``0`` and a non-finite number ``null``.

    Raises:
        CanonicalError: the value holds what is not JSON.
    """
    return _text(value, list, _stringified)


def _text(
    value: object, names: Callable[[dict[str, object]], list[str]], scalar: Callable[[object], str]
) -> str:
    """Compact JSON, with members in the order of ``names`` and what is no container spelled by ``scalar``."""
    out: list[str] = []
    levels: list[tuple[Iterator[tuple[str, object]], str]] = [(iter((("", value),)), "")]
    while levels:
        members, closing = levels[-1]
        for lead, child in members:
            kind = type(child)
            if kind is str:
                out.append(lead + _quote(child))  # type: ignore[arg-type]
            elif kind is dict:
                out.append(lead + "{")
                levels.append((_led_members(child, names), "}"))  # type: ignore[arg-type]
                break
            elif kind is list:
                out.append(lead + "[")
                levels.append((_led_elements(child), "]"))  # type: ignore[arg-type]
                break
            else:
                out.append(lead + scalar(child))
        else:
            out.append(closing)
            levels.pop()
    text = "".join(out)
    return text if text.isascii() else _without_lone_surrogates(text)


def _led_members(
    mapping: dict[str, object], names_of: Callable[[dict[str, object]], list[str]]
) -> Iterator[tuple[str, object]]:
    """Members in the order of ``names_of``, each with the text that goes before its value."""
    names = names_of(mapping)
    leads = [f",{_quote(name)}:" for name in names]
    if leads:
        leads[0] = leads[0][1:]
    return zip(leads, map(mapping.__getitem__, names), strict=True)


def _led_elements(elements: list[object]) -> Iterator[tuple[str, object]]:
    return zip(chain(("",), repeat(",")), elements, strict=False)


def sorted_names(mapping: dict[str, object]) -> list[str]:
    """Member names in UTF-16 unit order.

    Raises:
        CanonicalError: a name is no string.
    """
    try:
        names = sorted(mapping)
        if not "".join(names).isascii():
            names.sort(key=utf16_units)
    except TypeError:
        raise CanonicalError("member names that are strings", "another type") from None
    return names


def utf16_units(text: str) -> bytes:
    """A sort key that orders strings as JavaScript does: by units, not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        units = text.encode("utf-16-le", "surrogatepass")  # joins pairs that were given as two halves
        joined = units.decode("utf-16-le", "surrogatepass")
        return _LONE_SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", joined)
    return text


def string_text(text: str) -> str:
    """``text`` as a canonical JSON string, quotes included."""
    return _without_lone_surrogates(_quote(text))


def _scalar_text(value: object) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        if -_EXACT_INTEGER <= value <= _EXACT_INTEGER:
            return int.__repr__(value)
        value = _double(value)
    if isinstance(value, float):
        if not math.isfinite(value) or (not value and math.copysign(1, value) < 0):
            raise CanonicalError("a finite number other than negative zero", number_text(value))
        return number_text(value)
    if isinstance(value, str):
        return _quote(str(value))
    raise CanonicalError("a JSON value", type(value).__name__)


def _stringified(value: object) -> str:
    if isinstance(value, float):
        return number_text(value) if math.isfinite(value) else "null"
    return _scalar_text(value)


def _double(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def number_text(number: float) -> str:
    """``String(number)`` of JavaScript for any double; negative zero is ``0``, see also the spec's <S>."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if not number:
        return "0"
    text = repr(float(number))
    if "e" not in text:
        return text[:-2] if text.endswith(".0") else text
    sign = "-" if number < 0 else ""
    mantissa, _, exponent_text = text.lstrip("-").partition("e")
    digits = mantissa.replace(".", "")
    exponent = int(exponent_text)  # number = d.ddd * 10^exponent
    if 0 <= exponent < 21:
        return sign + digits.ljust(exponent + 1, "0")  # repr has at most 17 digits and starts e at 16
    if -7 < exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{exponent:+d}"


# --- digests -------------------------------------------------------------------------------------


def digest_of_text(canonical: str | bytes) -> str:
    """``sha256:`` and 64 lower-case hex digits over the UTF-8 bytes of a canonical text."""
    return "sha256:" + _sha256(canonical)


def digest(value: object) -> str:
    """The digest of a JSON value.

    Raises:
        CanonicalError: as ``canonical_text``.
    """
    return digest_of_text(canonical_text(value))


def canonical_sha256_of_json(text: str | bytes) -> str | None:
    """SHA-256 (64 lower-case hex digits) of the canonical text of JSON ``text``.

    None when ``text`` is not JSON or has no canonical form. Of duplicate members the last one wins, as
    in ``JSON.parse``; ill-formed UTF-8 in bytes is read as U+FFFD.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        return _sha256(canonical_text(parse_json(text)))
    except (MalformedJson, CanonicalError):
        return None


def _sha256(text: str | bytes) -> str:
    octets = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(octets).hexdigest()
