"""Cassettes on disk: created, replaced or continued, one canonical line after another.

The rule: nothing invalid is ever written. A record is checked like a line that is read; after the first
failure the writer refuses everything with that same failure. Uniqueness and contiguity of sequences, call
keys and occurrences are the caller's.

Source: spec/cassette.md section 13.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self
from uuid import uuid4

from dsh_lake.canonical import JsonValue, canonical_text, digest, number_text, parse_json
from dsh_lake.cassette.compare import policy_differences
from dsh_lake.cassette.loading import absolute_path, as_error, verified_lines
from dsh_lake.cassette.lock import WriterLock, iso_timestamp
from dsh_lake.errors import CanonicalError, CassetteFormatError, DshLakeError
from dsh_lake.records.cassette import NOT_LOSSLESS, check_record
from dsh_lake.records.cassette_checks import CAPABILITIES, FORMAT, TARGET, Faults
from dsh_lake.records.cassette_facts import Header, Interaction

Mode = Literal["create", "truncate", "append"]


def new_header(
    *,
    provider: str,
    upstream: str,
    capabilities: Mapping[str, bool],
    inherits_parent_context: bool,
    request_storage: Literal["metadata", "full"] = "metadata",
    redact_secrets: bool = True,
    redaction_patterns: Sequence[str] = (),
) -> dict[str, JsonValue]:
    """A header record for a new cassette, with an id and a time of its own and its hash."""
    header: dict[str, JsonValue] = {
        "kind": "cassette/header",
        "format": FORMAT,
        "version": 1,
        "cassetteId": str(uuid4()),
        "createdAt": iso_timestamp(datetime.now(UTC)),
        "target": {"dshSubagent": TARGET},
        "provider": {
            "cassette": provider,
            "upstream": upstream,
            "capabilities": {name: bool(capabilities.get(name)) for name in CAPABILITIES},
            "inheritsParentContext": inherits_parent_context,
        },
        "requestStorage": request_storage,
        "redactSecrets": redact_secrets,
        "redactionPatterns": list(redaction_patterns),
    }
    return {**header, "hash": digest(header)}


def expand_tokens(path: str) -> str:
    """``path`` with ``{timestamp}`` and ``{pid}`` replaced by the time now and this process's id."""
    timestamp = iso_timestamp(datetime.now(UTC)).translate({ord(mark): None for mark in "-:."})
    return path.replace("{timestamp}", timestamp).replace("{pid}", str(os.getpid()))


class CassetteWriter:
    """An open cassette under its lock. Closes itself as a context manager. Not for several threads.

    ``header`` is the record that stands in the file: in append mode the file's own. ``next_sequence`` and
    ``existing_interactions`` say what the file held when it was opened.
    """

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, object], mode: Mode) -> None:
        """Open the cassette at ``path``; a new file is synced with its header line.

        Raises:
            CassetteFormatError: the header fails a check, the lock is held, the file cannot be opened as
                ``mode`` says, or (append) is no sound cassette or was recorded under another policy.
        """
        self.path = absolute_path(path)
        self.header, facts = _checked_header(header)
        self.next_sequence = 1
        self.existing_interactions = 0
        self._storage = facts.request_storage
        self._failure: DshLakeError | None = None
        self._is_closed = False
        self._make_folder()
        self._lock = WriterLock.acquire(self.path)
        try:
            self._file = self._open(mode, facts)
        except BaseException:
            self._lock.release()
            raise

    def _make_folder(self) -> None:
        try:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CassetteFormatError(f'cannot resolve cassette path "{self.path}" for writing') from error

    def _open(self, mode: Mode, facts: Header) -> BinaryIO:
        if mode == "append" and os.path.lexists(self.path):
            return self._continued(facts)
        try:
            file = open(self.path, "wb" if mode == "truncate" else "xb")  # noqa: SIM115  # closed in close
        except OSError as error:
            raise CassetteFormatError(f'cannot open cassette "{self.path}" in {mode} mode') from error
        self._previous_hash = facts.stated_sha256
        file.write(canonical_text(self.header).encode() + b"\n")
        _sync(file)
        return file

    def _continued(self, configured: Header) -> BinaryIO:
        """The existing file, open behind its last line."""
        for line in verified_lines(self.path):
            facts = line.facts
            if isinstance(facts, Interaction):
                self.existing_interactions += 1
                self.next_sequence = max(self.next_sequence, (facts.sequence or 0) + 1)
            elif facts is not None:
                _refuse_other_policy(facts, configured)
                record = line.record()
                assert isinstance(record, dict)  # a verified header
                self.header = record
            self._previous_hash = facts.stated_sha256 if facts is not None else None
        try:
            file = open(self.path, "r+b")  # noqa: SIM115  # closed in close
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        except OSError as error:
            raise CassetteFormatError(f'cannot open cassette "{self.path}" in append mode') from error
        return file

    def append(self, body: Mapping[str, object]) -> dict[str, JsonValue]:
        """Write one interaction; ``body`` is the record without ``previousHash`` and ``hash``.

        Returns: the record as it was written.

        Raises:
            CassetteFormatError: the record fails a check, with the message of a line that is read; or an
                earlier append failed, with that one's message; or the writer is closed.
        """
        if self._is_closed:
            raise CassetteFormatError("cassette writer is closed")
        if self._failure is not None:
            raise self._failure
        try:
            record = self._sealed(body)
            self._file.write(canonical_text(record).encode() + b"\n")
            self._file.flush()
        except DshLakeError as error:
            self._failure = error
            raise
        except OSError as error:
            self._failure = CassetteFormatError(f'cannot append to cassette "{self.path}"')
            raise self._failure from error
        self._previous_hash = str(record["hash"])
        return record

    def _sealed(self, body: Mapping[str, object]) -> dict[str, JsonValue]:
        """``body`` as the next record of the chain, checked."""
        unsealed = _plain({**body, "previousHash": self._previous_hash}, without="hash")
        record = {**unsealed, "hash": digest(unsealed)}
        faults = Faults(0, f"line {_after(record.get('sequence'))}")
        facts = check_record(record, faults)
        if faults.found:
            raise as_error(faults.found[0])
        if isinstance(facts, Interaction) and facts.request_storage != self._storage:
            message = f'interaction request.storage must match header.requestStorage "{self._storage}"'
            raise CassetteFormatError(message)
        return record

    def close(self) -> None:
        """Sync the file and give the lock back; closing again does nothing.

        Raises:
            CassetteFormatError: an append had failed, or the lock folder holds something else.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            with self._file:
                _sync(self._file)
        finally:
            self._lock.release()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except DshLakeError as failure:
            if failure is not error:
                raise


def _plain(record: Mapping[str, object], *, without: str) -> dict[str, JsonValue]:
    try:
        text = canonical_text({name: value for name, value in record.items() if name != without})
    except CanonicalError as error:
        raise CassetteFormatError(NOT_LOSSLESS) from error
    plain = parse_json(text)
    assert isinstance(plain, dict)  # it was one
    return plain


def _checked_header(header: Mapping[str, object]) -> tuple[dict[str, JsonValue], Header]:
    plain = _plain(header, without="")
    faults = Faults(1)
    facts = check_record(plain, faults)
    if faults.found:
        raise as_error(faults.found[0])
    assert isinstance(facts, Header)  # line 1 without a fault
    return plain, facts


def _refuse_other_policy(existing: Header, configured: Header) -> None:
    for name in policy_differences(existing, configured):
        raise CassetteFormatError(f"cannot append: existing header {name} differs from configured value")


def _after(sequence: JsonValue) -> str:
    """``sequence + 1`` as the original prints it."""
    is_number = isinstance(sequence, (int, float)) and not isinstance(sequence, bool)
    return number_text(sequence + 1) if is_number else "NaN"  # type: ignore[operator]


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
