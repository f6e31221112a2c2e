"""JSON that the fast decoder refuses but the format allows, read exactly and without surprises.

msgspec is the fast path of every reader. It refuses some valid JSON (lone surrogate escapes) and says
little about what is wrong with the rest. The functions here are the slow, exact path: the standard
library's scanner, made strict (NaN and Infinity are no JSON) and safe (no limit on digits, nesting too
deep for the interpreter is an error of its own kind).
"""

from __future__ import annotations

import json
import re
from typing import Any

_WHITESPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_INTEGER_DIGITS = 400


class NotJson(ValueError):
    """The text is no JSON; the message says why and at which character."""


class TooDeep(ValueError):
    """The text nests deeper than this reader follows."""


def _refuse_constant(name: str) -> Any:
    raise NotJson(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    # int() of many digits is quadratic and guarded by a limit of the interpreter; a number of that size
    # is out of every range the format knows, so its magnitude is all that matters.
    return int(digits) if len(digits) <= _LONG_INTEGER_DIGITS else float(digits)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)


def parse(text: str) -> Any:
    """The value of a JSON text; of a repeated member the last one.

    Raises:
        NotJson: the text is not one JSON value.
        TooDeep: arrays and objects nest too deeply.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} (character {error.pos})") from error
    except RecursionError as error:
        raise TooDeep("arrays or objects nest too deeply") from error


def member_spans(text: str) -> dict[str, tuple[int, int]]:
    """Where the value of each member of a JSON object's text begins and ends, in characters.

    The text must already have parsed as an object. Of a repeated member the last one is given.
    """
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        begin = _skip(text, at + 1)
        _, at = _DECODER.raw_decode(text, begin)
        spans[name] = (begin, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return spans


def _skip(text: str, at: int) -> int:
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def without_surrogates(text: str) -> str:
    """The text as valid Unicode: each lone surrogate becomes U+FFFD, as any UTF-8 encoder would do."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
