"""Text from outside (paths, names, messages), made safe to show on a terminal.

The rule: nothing reaches a terminal that could move its cursor, change its state, hide text or turn its
direction. Such characters are shown as escapes instead: control characters, format characters (bidirectional
overrides, zero-width ones), line and paragraph separators, and lone surrogates.
"""

from __future__ import annotations

import re

FORMAT_CHARACTERS = (
    "\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
"""Categories Cc, Cf, Zl and Zp of Unicode 15, as the inside of a character class: ``unicodedata`` of some
supported interpreters knows fewer."""

_UNSAFE = re.compile(f"[{FORMAT_CHARACTERS}\ud800-\udfff]")
_UNSAFE_BUT_LINE_ENDS = re.compile(f"(?!\n)[{FORMAT_CHARACTERS}\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def terminal_text(text: str) -> str:
    r"""The text on one line, with escapes in place of what a terminal would act on.

    >>> terminal_text("red \x1b[31m, a\tb, \u202egnp.exe")
    'red \\x1b[31m, a\\tb, \\u202egnp.exe'
    """
    return text if text.isprintable() else _UNSAFE.sub(_escape, text)


def terminal_lines(text: str) -> str:
    """The same for text of several lines, whose ends stay."""
    return text if text.isprintable() else _UNSAFE_BUT_LINE_ENDS.sub(_escape, text)


def terminal_json(text: str) -> str:
    """JSON text in which such characters are spelled as JSON escapes: another spelling of the same value."""
    return text if text.isprintable() else _UNSAFE_BUT_LINE_ENDS.sub(_json_escape, text)


def _escape(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _NAMED:
        return _NAMED[letter]
    number = ord(letter)
    if 0xDC80 <= number <= 0xDCFF:
        # A byte that is no UTF-8, as the operating system's functions give it in a path.
        number -= 0xDC00
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
