"""Bytes of a cassette to its lines: what each says and every check it fails on its own.

The rule: a file is one pass, one line in memory at a time, up to a bound. Each non-blank line gives its
facts and its faults (``cassette_facts``); what depends on other lines is left to whoever sees all rows.
These checks have the rank ``check * CHECK_RANKS`` and stand at the line named:

    12  chain-break           previous_sha256 differs from stated_sha256 of line - 1
    15  storage-disagrees     request_storage differs from that of the header
    16  duplicate-sequence    sequence is also on an earlier line
    17  duplicate-call-key    call_key is also on an earlier line
    18  duplicate-occurrence  occurrence is also on an earlier line of the group, which is all rows with
                              equal parent_key, parent_context_fingerprint and request_fingerprint
    19  missing-sequence      sequences are not 1..n: at one line after the last
    20  missing-occurrence    occurrences of a group are not 1..m, groups by first line: likewise

A comparison with a null is no fault, since the line that lacks the fact has a fault of its own; 19 and 20
count only when no line has one. Then the original's verdict is the fault with the least (line, rank). 12
may compare stated hashes: an earlier line whose hash is wrong has already won.

Most lines are usual (``cassette_shape``): faultless and their own canonical text. Every other line is
parsed for itself (``cassette_text``) and checked field by field (``cassette_checks``).

Source: spec/cassette.md sections 1, 2 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from dsh_lake.canonical import JS_WHITESPACE, JsonValue, digest_of_text, parse_json
from dsh_lake.errors import CanonicalError, DuplicateMember, MalformedJson
from dsh_lake.records.cassette_checks import Faults, check_header, check_interaction
from dsh_lake.records.cassette_facts import Fault, Header, Interaction
from dsh_lake.records.cassette_shape import usual_interaction
from dsh_lake.records.cassette_text import Encode, exact_encode, parse_record

NOT_LOSSLESS = "cassette record is not lossless canonical JSON"

DUPLICATE_RANK = 1
"""Of duplicate members: after the syntax (0), before every numbered check."""

LONGEST_LINE_BYTES = 1 << 29
"""A line of more is not read: in the original's language no text is that long."""

_SKIPPED_BYTES = 1 << 20

EMPTY_CASSETTE = Fault(0, 1, "empty-cassette", "cassette is empty")
"""The fault of a file without a line."""


class CassetteLine(msgspec.Struct):
    """One non-blank line.

    ``line`` counts non-blank lines from 1, ``physical_line`` all lines; ``offset`` is the byte where the
    line begins, ``octets`` its bytes without the line end, or none of a line too long to be read. ``facts``
    is None when the record is no header (line 1) or no interaction (later lines) at all.
    """

    line: int
    physical_line: int
    offset: int
    octets: bytes
    facts: Header | Interaction | None
    faults: list[Fault]

    def record(self) -> JsonValue:
        """The parsed line.

        Raises:
            MalformedJson: it is no JSON.
        """
        return parse_json(self.octets.decode("utf-8", "replace"))


def read_cassette(file: BinaryIO, *, longest_bytes: int = LONGEST_LINE_BYTES) -> Iterator[CassetteLine]:
    """The lines of a cassette, blank ones dropped, from an open binary file.

    Memory: one line and what is made of it. Nothing is raised for what the bytes hold.
    """
    offset = physical_line = count = 0
    while raw := file.readline(longest_bytes + 1):
        physical_line += 1
        size = len(raw)
        octets = raw.removesuffix(b"\n").removesuffix(b"\r")
        if size > longest_bytes and not raw.endswith(b"\n"):
            count += 1
            size += _skip_line(file)
            yield CassetteLine(count, physical_line, offset, b"", None, [_too_long(count, longest_bytes)])
        elif not _is_blank(octets):
            count += 1
            facts, faults = read_record(octets, count)
            yield CassetteLine(count, physical_line, offset, octets, facts, faults)
        offset += size


def _skip_line(file: BinaryIO) -> int:
    """Pass over what is left of a line; how many bytes that was."""
    size = 0
    while part := file.readline(_SKIPPED_BYTES):
        size += len(part)
        if part.endswith(b"\n"):
            break
    return size


def _too_long(line: int, longest_bytes: int) -> Fault:
    return Fault(line, 0, "line-too-long", f"line {line} has more than {longest_bytes} bytes")


def read_record(octets: bytes, line: int) -> tuple[Header | Interaction | None, list[Fault]]:
    """Facts and faults of one line (without its line end) that stands as number ``line`` in its file."""
    usual = usual_interaction(octets, line) if line > 1 else None
    if usual is not None and usual.computed_sha256 == usual.stated_sha256:
        return usual, []
    faults = Faults(line)
    try:
        record, encode = parse_record(octets)
    except MalformedJson:
        faults.add(0, "malformed-json", f"line {line} is not valid JSON")
    except DuplicateMember:
        message = f"line {line} contains a duplicate JSON object member"
        faults.found.append(Fault(line, DUPLICATE_RANK, "duplicate-member", message))
    else:
        return check_record(record, faults, encode), faults.found
    return None, faults.found


def check_record(
    record: JsonValue, faults: Faults, encode: Encode = exact_encode
) -> Header | Interaction | None:
    """The facts of a parsed record, digests included; its failed checks are added to ``faults``."""
    facts = check_header(record, faults) if faults.line == 1 else check_interaction(record, faults)
    if facts is not None and isinstance(record, dict):
        _add_digests(record, facts, encode, faults)
    return facts


def _is_blank(octets: bytes) -> bool:
    return not octets.startswith(b"{") and not octets.decode("utf-8", "replace").strip(JS_WHITESPACE)


# --- digests -------------------------------------------------------------------------------------


def _add_digests(
    record: dict[str, JsonValue], facts: Header | Interaction, encode: Encode, faults: Faults
) -> None:
    """Fill in the computed digests and compare the record's hash with its own."""
    if isinstance(facts, Header):
        check_lossless = check_hash = 18
    else:
        check_lossless, check_hash = 13, 14
        facts.outcome_fingerprint = _digest_or_none(record.get("outcome"), encode)
        if facts.request_storage == "full":
            facts.prompt_bytes = _prompt_bytes(record["request"], encode)
    rest = {name: value for name, value in record.items() if name != "hash"}
    facts.computed_sha256 = _digest_or_none(rest, encode)
    if facts.computed_sha256 is None:
        faults.add(check_lossless, "not-lossless", NOT_LOSSLESS)
    elif facts.stated_sha256 is not None and facts.stated_sha256 != facts.computed_sha256:
        faults.add(check_hash, "hash-mismatch", f"{faults.subject} hash mismatch")


def _digest_or_none(value: JsonValue, encode: Encode) -> str | None:
    try:
        return digest_of_text(encode(value))
    except CanonicalError:
        return None


def _prompt_bytes(request: JsonValue, encode: Encode) -> int | None:
    """The size of a full request's canonical prompt; None when there is none."""
    value = request.get("value") if isinstance(request, dict) else None
    if not isinstance(value, dict) or not isinstance(value.get("prompt"), list):
        return None
    try:
        return len(encode(value["prompt"]))
    except CanonicalError:
        return None
