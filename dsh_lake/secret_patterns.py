r"""The built-in patterns of cassette redaction for RE2, the engine of the queries.

The rule: each hits what its JavaScript original hits (``dsh_lake/cassette/redact.py`` has them for Python).
All of it can be said in RE2, with three things spelled out: case is ignored letter by letter, since ``(?i)``
would take U+212A for k; blanks are those of JavaScript; and four *units* of UTF-16 are counted in characters,
of which one beyond the BMP is two units. ``\b`` is ASCII in both.

Source: spec/cassette.md section 14.
"""

from __future__ import annotations

from collections.abc import Mapping

REDACTED = "[REDACTED]"

_SPACES = r"\t\n\x0b\x0c\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
_BLANK = f"[{_SPACES}]"
_QUOTE = "[\"']"
# Tables hold half a character, which is one unit, as U+10D800 to U+10DFFF.
_TWO_UNITS = r"[\x{10000}-\x{10d7ff}\x{10e000}-\x{10ffff}]"
_ONE_UNIT = rf"[^\"'{_SPACES},}}\x{{10000}}-\x{{10d7ff}}\x{{10e000}}-\x{{10ffff}}]"
_ANY = rf"[^\"'{_SPACES},}}]"
_VALUE = (
    f"(?:{_TWO_UNITS}(?:{_TWO_UNITS}|{_ONE_UNIT}{_ANY})"
    f"|{_ONE_UNIT}(?:{_TWO_UNITS}{_ANY}|{_ONE_UNIT}(?:{_TWO_UNITS}|{_ONE_UNIT}{_ANY})))"
    f"{_ANY}*"
)
"""Four units or more."""


def _any_case(word: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


def _either(*choices: str) -> str:
    return f"(?:{'|'.join(choices)})"


_RUN = "[a-zA-Z0-9_-]*"
_JOIN = "[_-]?"
_PLAIN_NAMES = tuple(map(_any_case, ("authorization", "password", "secret", "token")))
_PREFIXED_NAMES = (
    f"{_any_case('api')}{_JOIN}{_any_case('key')}",
    f"{_either(*map(_any_case, ('access', 'refresh', 'id')))}{_JOIN}{_any_case('token')}",
    f"{_any_case('client')}{_JOIN}{_any_case('secret')}",
)
_NAME = _either(*(f"{_RUN}{name}" for name in _PREFIXED_NAMES), *_PLAIN_NAMES)

_BEARER = rf"\b{_any_case('bearer')}{_BLANK}+[A-Za-z0-9._~+/=-]{{8,}}"
_TOKEN = r"\b(?:[sS][kK][-_]|[gG][hH][oOpPuUsSrR]_)[A-Za-z0-9_-]{12,}\b"
_AWS_KEY_ID = r"\bAKIA[A-Z0-9]{16}\b"
_ASSIGNMENT = rf"(\b{_NAME}{_BLANK}*{_QUOTE}?{_BLANK}*[:=]{_BLANK}*{_QUOTE}?)({_VALUE})"

# -- names of members --------------------------------------------------------------------------------------

_MEMBERS = ("apikey", "authorization", "cookie", "password", "secret", "token")
_MEMBER_ENDINGS = ("apikey", "accesstoken", "refreshtoken", "idtoken", "clientsecret")
_IGNORED = r"[^a-zA-Z0-9\x{130}\x{212a}]*"
_LOWERED = {"i": r"[iI\x{130}]", "k": r"[kK\x{212a}]"}
"""Letters that other letters become in lower case."""


def _spread(name: str) -> str:
    """The name with anything between its letters that is neither letter nor digit."""
    return _IGNORED.join(_LOWERED.get(letter, f"[{letter}{letter.upper()}]") for letter in name)


_SECRET_NAME = _either(
    f'^"{_IGNORED}{_either(*map(_spread, _MEMBERS))}{_IGNORED}"$',
    f'{_either(*map(_spread, _MEMBER_ENDINGS))}{_IGNORED}"$',
)
"""Of a name between its quotes, as it is spelled: those whose value recording redacts. (A name that needs
escapes to be spelled is in no known tool.)"""
_ASSIGNED_NAME = rf'\b{_NAME}"$'
"""Those that an assignment may have."""

# -- JSON ----------------------------------------------------------------------------------------------------

_STRING = r'"(?:[^"\\]|\\.)*"'
_JSON_SPACE = r"[ \t\r\n]*"
_JSON_TOKEN = rf'({_STRING})(?:{_JSON_SPACE}(:){_JSON_SPACE}([^" \t\r\n{{\[,\]}}][^ \t\r\n,\]}}]*|[{{\[])?)?'

_ESCAPE = r"\\+(?:[bfnrt]|u[0-9a-fA-F]{4})"
_GAP = rf"(?:[{_SPACES}\"'\\]|{_ESCAPE})*"
_INNER_IGNORED = r'[^a-zA-Z0-9"]*'
_MAY_HOLD = _either(
    rf"{_any_case('bearer')}(?:{_BLANK}|{_ESCAPE})+[A-Za-z0-9._~+/=\\-]",
    _TOKEN.replace(r"\b", ""),
    _AWS_KEY_ID.replace(r"\b", ""),
    f"{_either(*_PREFIXED_NAMES, *_PLAIN_NAMES)}{_GAP}[:=]",
    f'{_either(*map(_spread, _MEMBERS))}{_INNER_IGNORED}"(?:{_BLANK}|{_ESCAPE})*:',
    r"\\u00(?:2[0-57-9a-fA-F]|3[0-9abdABDfF]|[4-7][0-9a-fA-F])",
)
"""Hits every text that any of the others hits, and every JSON text of such a text, however often escaped: the
last choice stands for letters and signs that somebody spelled as escapes."""

PATTERNS: Mapping[str, str] = {
    "may_hold": _MAY_HOLD,
    "bearer": _BEARER,
    "token": _TOKEN,
    "aws_key_id": _AWS_KEY_ID,
    "assignment": _ASSIGNMENT,
    "json_token": _JSON_TOKEN,
    "secret_name": _SECRET_NAME,
    "assigned_name": _ASSIGNED_NAME,
}
"""By the names that ``queries/redaction`` takes them under; group 2 of ``assignment`` is the secret."""
