"""The digest of a tool call's arguments: equal calls are found by it, however they were spelled.

Nearly all arguments are flat objects of short strings and small integers. For those the fast encoder,
told to sort, writes the canonical text; whatever it could write otherwise (fractions, large integers,
escaped units, names that are not ASCII) goes the exact way.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Annotated

import msgspec

from dsh_lake.canonical import canonical_sha256_of_json

_Whole = Annotated[int, msgspec.Meta(ge=-(2**53) + 1, le=2**53 - 1)]
_Scalar = str | bool | _Whole | None
_Value = _Scalar | list[_Scalar | dict[str, _Scalar]] | dict[str, _Scalar]

_may_be_minus_zero = re.compile(r"[:,\[]\s*-0").search
"""The decoder forgets the sign of a zero. (Dates in strings hold "-0" too: what stands before it tells.)"""
_decode = msgspec.json.Decoder(dict[str, _Value]).decode
_encode = msgspec.json.Encoder(order="deterministic").encode


def arguments_sha256(text: str) -> str | None:
    """SHA-256 (64 hex digits) of the canonical text of the arguments; None when they are no JSON."""
    if "\\u" not in text and ("-0" not in text or _may_be_minus_zero(text) is None):
        try:
            arguments = _decode(text)
            if text.isascii() or _has_plain_names(arguments):
                return sha256(_encode(arguments)).hexdigest()
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
            pass
    return canonical_sha256_of_json(text)


def _has_plain_names(arguments: dict[str, _Value]) -> bool:
    """Whether all names are ASCII, which every order sorts alike; nested names are not looked at."""
    is_flat = not any(isinstance(value, dict | list) for value in arguments.values())
    return is_flat and "".join(arguments).isascii()
