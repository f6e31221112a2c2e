"""Secrets out of what a cassette records: by member name, by built-in patterns, by configured ones.

The rule: exactly what the producer redacts, redacted and counted as it does. Patterns are JavaScript
regular expressions (flags g and i, no u): they match UTF-16 units. The built-in ones are written here
for ``re`` over units. Configured ones run in QuickJS, a JavaScript engine (extra ``redaction``), since no
translation to ``re`` keeps their meaning; without it they are refused, never matched differently.

Source: spec/cassette.md section 14.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from dsh_lake.canonical import JS_WHITESPACE, JsonValue, utf16_units
from dsh_lake.errors import CassetteError, InvalidRedactionPattern

REDACTED = "[REDACTED]"

_BLANK = f"[{re.escape(JS_WHITESPACE)}]"
_NAME = (
    "[a-z0-9_-]*api[_-]?key|[a-z0-9_-]*(?:access|refresh|id)[_-]?token|[a-z0-9_-]*client[_-]?secret"
    "|authorization|password|secret|token"
)
_ASSIGNMENT = (
    rf"(\b(?:{_NAME}){_BLANK}*[\"']?{_BLANK}*[:=]{_BLANK}*[\"']?)[^\"'{re.escape(JS_WHITESPACE)},}}]{{4,}}"
)
_BUILT_IN = (
    (re.compile(rf"\bbearer{_BLANK}+[A-Za-z0-9._~+/=-]{{8,}}", re.ASCII | re.IGNORECASE), REDACTED),
    (re.compile(r"\b(?:sk[-_]|gh[opusr]_)[A-Za-z0-9_-]{12,}\b", re.ASCII | re.IGNORECASE), REDACTED),
    (re.compile(r"\bAKIA[A-Z0-9]{16}\b", re.ASCII), REDACTED),
    (re.compile(_ASSIGNMENT, re.ASCII | re.IGNORECASE), rf"\1{REDACTED}"),
)

_SECRET_NAMES = frozenset({"apikey", "authorization", "cookie", "password", "secret", "token"})
_SECRET_ENDINGS = ("apikey", "accesstoken", "refreshtoken", "idtoken", "clientsecret")

_Substitute = Callable[[str], tuple[str, int]]
"""Text to redacted text and the number of hits."""


class Redactor:
    """The redaction policy of one recording."""

    def __init__(self, *, enabled: bool = True, patterns: Sequence[str] = ()) -> None:
        """Compile ``patterns``, unless redaction is off.

        Raises:
            InvalidRedactionPattern: a pattern is no JavaScript regular expression.
            CassetteError: there are patterns and no JavaScript engine (INVALID_CONFIG).
        """
        self.enabled = enabled
        self._configured: _Substitute | None = _javascript(patterns) if enabled and patterns else None

    def text(self, text: str) -> tuple[str, int]:
        """``text`` redacted, and how many hits were replaced; each pattern sees the output of the last."""
        if not self.enabled:
            return text, 0
        units = text if text.isascii() else _split(text)
        count = 0
        for pattern, replacement in _BUILT_IN:
            units, hits = pattern.subn(replacement, units)
            count += hits
        redacted = units if units.isascii() else _joined(units)
        if self._configured is None:
            return redacted, count
        redacted, hits = self._configured(redacted)
        return redacted, count + hits

    def value(self, value: JsonValue) -> tuple[JsonValue, int]:
        """A redacted copy of a JSON value at any depth, and the count of redactions.

        Members with a secret name lose their value whole; member names themselves are kept.
        """
        if not self.enabled:
            return value, 0
        top = [value]
        count = 0
        pending: list[dict[str, JsonValue] | list[JsonValue]] = [top]
        while pending:
            container = pending.pop()
            if isinstance(container, dict):
                for name, member in container.items():
                    container[name], hits = (REDACTED, 1) if _is_secret(name) else self._copy(member)
                    count += hits
                copies = list(container.values())
            else:
                for index, member in enumerate(container):
                    container[index], hits = self._copy(member)
                    count += hits
                copies = container
            pending += [copy for copy in copies if isinstance(copy, (dict, list))]
        return top[0], count

    def _copy(self, member: JsonValue) -> tuple[JsonValue, int]:
        """The copy of one member, its own members still to be redacted, and the hits in it."""
        if isinstance(member, str):
            return self.text(member)
        if isinstance(member, dict):
            return dict(member), 0
        return (list(member) if isinstance(member, list) else member), 0

    def check_protected(self, blocks: JsonValue) -> None:
        """Check that no pattern would change what gives a content block its meaning.

        Raises:
            CassetteError: one would change a block's ``type`` or an image's ``mediaType`` (INVALID_CONFIG).
        """
        pending = [blocks] if self.enabled else []
        while pending:
            siblings = pending.pop()
            for block in siblings if isinstance(siblings, list) else ():
                if not isinstance(block, dict):
                    continue
                self._check_text(block.get("type"), "type")
                attachment = block.get("attachment")
                if block.get("type") == "image" and isinstance(attachment, dict):
                    self._check_text(attachment.get("mediaType"), "mediaType")
                if block.get("type") == "tool-result":
                    pending.append(block.get("content"))

    def _check_text(self, text: JsonValue, name: str) -> None:
        if isinstance(text, str) and self.text(text)[0] != text:
            message = f'redaction pattern matches protected content-block field "{name}"'
            raise CassetteError(message, "INVALID_CONFIG")


def _is_secret(name: str) -> bool:
    plain = re.sub("[^a-z0-9]+", "", name.lower())
    return plain in _SECRET_NAMES or plain.endswith(_SECRET_ENDINGS)


def _split(text: str) -> str:
    """``text`` with each astral character as two units."""
    octets = utf16_units(text)
    return "".join(chr(int.from_bytes(octets[i : i + 2], "big")) for i in range(0, len(octets), 2))


def _joined(units: str) -> str:
    return utf16_units(units).decode("utf-16-be", "surrogatepass")


# --- configured patterns -------------------------------------------------------------------------

_COMPILE = """
(sources => {
  const patterns = [];
  for (const source of JSON.parse(sources)) {
    try { patterns.push(new RegExp(source, "gi")); } catch { return patterns.length; }
  }
  globalThis.redact = json => {
    let text = JSON.parse(json), count = 0;
    for (const pattern of patterns) {
      text = text.replace(pattern, () => { count += 1; return "[REDACTED]"; });
    }
    return JSON.stringify([text, count]);
  };
  return -1;
})
"""
"""Makes ``redact`` and gives -1, or gives the position of the first pattern that does not compile."""


def _javascript(patterns: Sequence[str]) -> _Substitute:
    """The configured patterns as one substitution, run by a JavaScript engine.

    Text travels as ASCII JSON, so that lone surrogates and NUL survive.
    """
    context = _engine()
    compile_all = context.eval(_COMPILE)
    refused: int = compile_all(json.dumps(list(patterns)))
    if refused >= 0:
        raise InvalidRedactionPattern(patterns[refused])
    redact: Callable[[str], str] = context.get("redact")

    def substitute(text: str) -> tuple[str, int]:
        redacted, count = json.loads(redact(json.dumps(text)))
        return redacted, count

    return substitute


def _engine() -> Any:  # the wrapper ships no types
    try:
        return import_module("quickjs").Context()
    except ImportError as error:
        message = "redaction patterns need a JavaScript engine: install dsh-lake[redaction]"
        raise CassetteError(message, "INVALID_CONFIG") from error
