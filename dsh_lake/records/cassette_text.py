"""A cassette line's text to its value, and parts of that value back to canonical text.

The rule: the answer is that of ``canonical``, and msgspec gives it wherever that is provable: for a line
that is its own canonical text. Such a line also holds no duplicate members, since its re-encoding would
be shorter.

Source: spec/cassette.md sections 1 and 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from dsh_lake.canonical import JsonValue, canonical_text, number_text, parse_json

Encode = Callable[[object], bytes]
"""The canonical UTF-8 of (a part of) a record; raises CanonicalError where there is none."""


def parse_record(octets: bytes) -> tuple[JsonValue, Encode]:
    """The value of one line, and an encoder for parts of that value.

    Raises:
        MalformedJson: the line is no JSON.
        DuplicateMember: an object in it, at any depth, names a member twice.
    """
    try:
        record: JsonValue = _decode(octets)
        if _encode(record) == octets and not _may_differ(octets):
            return record, _encode
    except (msgspec.MsgspecError, _UnusualNumber, RecursionError, UnicodeError):
        pass  # the line may be valid all the same: the exact reader decides
    return parse_json(octets.decode("utf-8", "replace"), unique_members=True), exact_encode


def exact_encode(value: object) -> bytes:
    """The canonical UTF-8 of any JSON value.

    Raises:
        CanonicalError: it has none.
    """
    return canonical_text(value).encode()


class _UnusualNumber(Exception):
    """A number whose spelling is not its canonical one."""


def _canonically_spelled(literal: str) -> float:
    number = float(literal)
    if number_text(number) != literal:
        raise _UnusualNumber
    return number


_decode = msgspec.json.Decoder(float_hook=_canonically_spelled).decode
_encode = msgspec.json.Encoder(order="sorted").encode


def _may_differ(octets: bytes) -> bool:
    """Whether msgspec's spelling of integers or order of names might not be the canonical one.

    Integers of 16 digits need not be doubles, and names beyond the BMP sort differently by units. A
    false alarm (such digits inside a string) costs time only.
    """
    classes = octets.translate(_CLASSES)
    return (b"0" * 16 in classes and _LONG_INTEGER(octets) is not None) or (
        b"\xf0" in classes and _ASTRAL_NAME(octets) is not None
    )


_CLASSES = bytes(0x30 if 0x30 <= octet <= 0x39 else 0xF0 if octet >= 0xF0 else 0x20 for octet in range(256))
_LONG_INTEGER = re.compile(rb"(?:^|[:,\[])-?[0-9]{16}").search
_ASTRAL_NAME = re.compile(rb'[\xf0-\xf4](?:[^"\\]|\\.)*":').search
