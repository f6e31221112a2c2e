"""The digest of a tool call's arguments: equal calls are found by it, however they were spelled.

Nearly all arguments are flat objects of short strings and small integers. For those the fast encoder,
told to sort, writes the canonical text; whatever it could write otherwise (fractions, large integers,
escaped units, names that are not ASCII) goes the exact way.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated

import msgspec

from dsh_lake.canonical import canonical_sha256_of_json

_Whole = Annotated[int, msgspec.Meta(ge=-(2**53) + 1, le=2**53 - 1)]
_Scalar = str | bool | _Whole | None
_Value = _Scalar | list[_Scalar | dict[str, _Scalar]] | dict[str, _Scalar]

_decode = msgspec.json.Decoder(dict[str, _Value]).decode
_encode = msgspec.json.Encoder(order="deterministic").encode


def arguments_sha256(text: str) -> str | None:
    """SHA-256 (64 hex digits) of the canonical text of the arguments; None when they are no JSON."""
    try:
        utf8 = text.encode()
        if b"\\u" not in utf8 and not _may_hold_minus_zero(utf8):
            arguments = _decode(utf8)
            if utf8.isascii() or _has_plain_names(arguments):
                return sha256(_encode(arguments)).hexdigest()
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        pass
    return canonical_sha256_of_json(text)


def _may_hold_minus_zero(utf8: bytes) -> bool:
    """Whether some number may be a negative zero, whose sign the decoder forgets.

    Dates in strings hold "-0" too: what stands before it tells most of them.
    """
    at = utf8.find(b"-0")
    while at >= 0:
        if utf8[at - 1] in b":,[ \t\r\n":
            return True
        at = utf8.find(b"-0", at + 2)
    return False


def _has_plain_names(arguments: dict[str, _Value]) -> bool:
    """Whether all names are ASCII, which every order sorts alike."""
    names = [*arguments]
    for value in arguments.values():
        if isinstance(value, dict):
            names += value
        elif isinstance(value, list):
            for member in value:
                if isinstance(member, dict):
                    names += member
    return "".join(names).isascii()
