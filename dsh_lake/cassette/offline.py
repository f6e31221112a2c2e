"""Replay matching without a replay: which recorded call would answer each request of a list, and why none.

The rule: the answers are those of :class:`dsh_lake.cassette.matching.Matcher`, in the order of the requests.

Source: spec/cassette.md section 11; spec/interface.md (`cassette match`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from dsh_lake.canonical import JsonValue, parse_json
from dsh_lake.cassette.loading import load
from dsh_lake.cassette.matching import ActualCall, Matcher
from dsh_lake.errors import CassetteMismatchError, MalformedJson, UnreadableSource, UsageError

_TEXTS = ("parentKey", "parentContextFingerprint", "requestFingerprint")


class Matching(msgspec.Struct, frozen=True):
    """What came of a list of requests.

    Each step is the request with ``matched`` (callKey, sequence and occurrence of the call it consumed),
    ``diagnostic`` (of a ``diagnose``, and of a mismatch) and, for a mismatch, ``error`` with class, code and
    message. ``unconsumed`` are call keys in file order, ``assert_consumed`` is the error for them or None.
    """

    steps: list[dict[str, Any]]
    unconsumed: list[str]
    assert_consumed: dict[str, str] | None

    @property
    def mismatches(self) -> int:
        """How many requests no recorded call answers."""
        return sum(
            "error" in step or step.get("diagnostic", {}).get("status") == "mismatch" for step in self.steps
        )

    @property
    def exit_code(self) -> int:
        """0: every request is answered and every call asked for. 2: not so."""
        return 2 if self.mismatches or self.unconsumed else 0

    def document(self) -> dict[str, Any]:
        """The outcome as plain values, as ``--format json`` prints it."""
        return {
            "steps": self.steps,
            "unconsumed": self.unconsumed,
            "assert_consumed": self.assert_consumed or "ok",
        }


def match(
    cassette: str | os.PathLike[str],
    requests: str | os.PathLike[str],
    *,
    duplicates: str = "reject",
    allow_redacted: bool = False,
) -> Matching:
    """Match a list of requests against a cassette.

    Args:
        requests: a file with one JSON object a line: ``op`` (match or diagnose), ``parentKey``,
            ``parentContextFingerprint``, ``requestFingerprint`` and optionally ``requestMetadata``.
        duplicates: ``reject`` refuses a cassette with ambiguous groups, ``sequence`` takes recorded calls
            in their order.
        allow_redacted: match although recorded results were redacted.

    Raises:
        CassetteFormatError: the cassette is not sound.
        CassetteAmbiguityError, CassetteMismatchError: it cannot be matched under these options.
        UnreadableSource, UsageError: the requests cannot be read, or a line of them is no request.
    """
    recorded = load(cassette)
    matcher = Matcher(recorded, duplicate_policy=duplicates, allow_redacted=allow_redacted)
    steps = []
    for request, actual in _requests(os.fspath(requests)):
        step: dict[str, Any] = dict(request)
        if request["op"] == "diagnose":
            step["diagnostic"] = matcher.diagnose(actual)
        else:
            try:
                facts = recorded.interactions[matcher.match(actual)]
            except CassetteMismatchError as error:
                step |= {"error": _described(error), "diagnostic": error.diagnosis}
            else:
                names = {"callKey": "call_key", "sequence": "sequence", "occurrence": "occurrence"}
                step["matched"] = {name: getattr(facts, field) for name, field in names.items()}
        steps.append(step)
    try:
        matcher.assert_consumed()
    except CassetteMismatchError as error:
        return Matching(steps, matcher.unconsumed(), _described(error))
    return Matching(steps, [], None)


def _described(error: CassetteMismatchError) -> dict[str, str]:
    return {"class": type(error).__name__, "code": error.code, "message": error.message}


def _requests(path: str) -> Iterator[tuple[dict[str, JsonValue], ActualCall]]:
    """The requests of a file with their calls; blank lines are left out."""
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _request(line, f"{path}#L{number}")
    except OSError as error:
        raise UnreadableSource(path, error.strerror or str(error)) from error


def _request(line: bytes, place: str) -> tuple[dict[str, JsonValue], ActualCall]:
    try:
        request = parse_json(line.decode("utf-8", "replace"))
    except MalformedJson as error:
        raise UsageError(f"{place}: not JSON") from error
    if not isinstance(request, dict) or request.get("op") not in ("match", "diagnose"):
        raise UsageError(f'{place}: a request is an object whose op is "match" or "diagnose"')
    for name in _TEXTS:
        if not isinstance(request.get(name), str):
            raise UsageError(f"{place}: {name} must be a string")
    metadata = request.get("requestMetadata", {})
    if not isinstance(metadata, dict):
        raise UsageError(f"{place}: requestMetadata must be an object")
    parent, context, fingerprint = (str(request[name]) for name in _TEXTS)
    return request, ActualCall(parent, context, fingerprint, metadata)
