"""How the original tool spells text, numbers and JSON on the terminal.

The rule: nothing that could move a cursor or hide text reaches a terminal: characters of the categories
Cc, Cf, Zl and Zp are escaped, in human output as ``\\u{h}``, inside JSON strings as ``\\uxxxx``.

Source: spec/cassette.md section 8 (escaping, one decimal).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal

from dsh_lake.canonical import number_text, string_text, utf16_units
from dsh_lake.terminal_text import FORMAT_CHARACTERS

_FORMAT_CHARACTERS = re.compile(f"[{FORMAT_CHARACTERS}]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` for human output: format characters escaped, lone surrogates as U+FFFD."""
    escaped = _FORMAT_CHARACTERS.sub(lambda match: f"\\u{{{ord(match[0]):04x}}}", text)
    return escaped if escaped.isascii() else _LONE_SURROGATE.sub("\ufffd", escaped)


def printed_lines(lines: Iterable[str]) -> str:
    """Human output of these lines, each escaped, each ended."""
    return "".join(f"{printable(line)}\n" for line in lines)


def one_decimal(number: float) -> str:
    """``number.toFixed(1)``: the exact binary value, ties away from zero."""
    if abs(number) >= 1e21:
        return number_text(number)
    return str(Decimal(number or 0).quantize(Decimal("0.1"), ROUND_HALF_UP))


def json_document(members: Mapping[str, object]) -> Iterator[str]:
    """A JSON object laid out with two spaces, in pieces, without a final newline.

    A member may be an iterator: it becomes an array, and only one element of it is in memory at a time.
    """
    lead = "{"
    for name, value in members.items():
        yield f"{lead}\n  {_quoted(name)}: "
        lead = ","
        if isinstance(value, Iterator):
            yield from _array(value)
        else:
            yield _laid_out(value, "  ")
    yield "\n}"


def _array(elements: Iterator[object]) -> Iterator[str]:
    lead = "["
    for element in elements:
        yield f"{lead}\n    {_laid_out(element, '    ')}"
        lead = ","
    yield "[]" if lead == "[" else "\n  ]"


def _laid_out(value: object, indent: str) -> str:
    """A value that begins at ``indent``; nesting is that of our documents, a few levels."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number_text(value)
    inner = indent + "  "
    if isinstance(value, Mapping):
        parts = [f"{inner}{_quoted(name)}: {_laid_out(member, inner)}" for name, member in value.items()]
        brackets = "{}"
    elif isinstance(value, Iterable):
        parts = [inner + _laid_out(element, inner) for element in value]
        brackets = "[]"
    else:
        raise TypeError(f"no JSON value: {type(value).__name__}")
    if not parts:
        return brackets
    return brackets[0] + "\n" + ",\n".join(parts) + "\n" + indent + brackets[1]


def _quoted(text: str) -> str:
    quoted = string_text(text)
    return _FORMAT_CHARACTERS.sub(_unit_escapes, quoted)


def _unit_escapes(match: re.Match[str]) -> str:
    octets = utf16_units(match[0])
    return "".join(f"\\u{octets[i : i + 2].hex()}" for i in range(0, len(octets), 2))
