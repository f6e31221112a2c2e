"""What can go wrong, as one tree; facts are attributes and the message is built from them.

    DshLakeError
      SourceError        a file or folder could not be opened
        UnreadableSource
      FormatError        bytes that are not what the format says (path, offset, expected, found)
        FrameError         zstd framing
        RecordError        a line that is no record
          MalformedJson
          DuplicateMember
        CanonicalError     a JSON value without a canonical text
      CassetteError      what the cassette tool refuses, with the tool's own code and message
        CassetteFormatError, CassetteAmbiguityError, CassetteMismatchError, CassetteRecordedError
      CassetteTypeError, InvalidRedactionPattern   the same, where the original has no code
      FixtureError       what the session-snapshot kit refuses, in the kit's own words
      SchemaError        a table we built does not match its declaration: our fault
      LakeError          the lake cannot be used as asked
        NotALake
        LakeBusy
        VersionMismatch
        BadPrices
      QueryError         SQL that cannot be found or run
        UnknownQuery
        QueryAssetsMissing
        QueryFailed
      UsageError         the caller asked for something that makes no sense

Catch ``DshLakeError`` for all of them. A failed verification or a line that does not parse is no
exception: it is a finding, a row with place and reason.
"""

from __future__ import annotations


class DshLakeError(Exception):
    """Base of every error this package raises on purpose."""


class SourceError(DshLakeError):
    """A file or folder could not be opened."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class UnreadableSource(SourceError):
    """The operating system refused to give the bytes."""


class FormatError(DshLakeError):
    """Bytes that are not what the format says.

    Attributes: ``path`` (None when the caller has not named one yet), ``offset`` (byte offset or
    None), ``expected``, ``found`` (a short description, never content).
    """

    def __init__(
        self, expected: str, found: str, *, path: str | None = None, offset: int | None = None
    ) -> None:
        self.expected = expected
        self.found = found
        self.path = path
        self.offset = offset
        place = f"{path or 'input'}" + (f" at byte {offset}" if offset is not None else "")
        super().__init__(f"{place}: expected {expected}, found {found}")


class FrameError(FormatError):
    """Zstd framing is broken."""


class RecordError(FormatError):
    """A line that is no record."""


class CanonicalError(FormatError):
    """A JSON value that has no canonical text (a non-finite number, negative zero)."""


class SchemaError(DshLakeError):
    """A table does not match its declaration: a fault of this package, not of the input."""


class LakeError(DshLakeError):
    """The lake cannot be used as asked."""


class NotALake(LakeError):
    """The folder holds no lake."""


class LakeBusy(LakeError):
    """Another process is writing this lake."""


class VersionMismatch(LakeError):
    """The lake was written by an incompatible version, or in the other content mode."""


class BadPrices(LakeError):
    """A file of prices cannot be used; ``place`` names the file and, where there is one, the line."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


class QueryError(DshLakeError):
    """SQL that cannot be found or run."""


class UnknownQuery(QueryError):
    """No query of that name."""


class QueryAssetsMissing(QueryError):
    """The queries folder is neither packaged nor beside the package."""


class QueryFailed(QueryError):
    """The engine refused or failed a query; the message says where."""


class UsageError(DshLakeError):
    """The caller asked for something that makes no sense."""


class MissingExtra(DshLakeError):
    """Something needs libraries that only an extra of this package brings; ``extra`` names it."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs the extra {extra!r}: in dsh-lake's folder, pip install '.[{extra}]'")


class MalformedJson(RecordError):
    """Text that is not JSON in the sense of RFC 8259."""


class DuplicateMember(RecordError):
    """An object names a member twice."""


class CassetteError(DshLakeError):
    """Something the original cassette tool refuses; ``code`` and the message are the tool's own."""

    def __init__(self, message: str, code: str) -> None:
        self.message = message
        self.code = code
        super().__init__(message)


class CassetteFormatError(CassetteError):
    """A file that is no valid cassette, or a record that must not become part of one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "CASSETTE_FORMAT")


class CassetteAmbiguityError(CassetteError):
    """Recorded calls, or live parents, that cannot be told apart."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "CASSETTE_AMBIGUOUS")


class CassetteMismatchError(CassetteError):
    """A live call that no recorded one answers, or recorded calls nobody made.

    ``diagnosis`` says why and which recorded calls came near, when one call is meant.
    """

    def __init__(self, message: str, diagnosis: object = None) -> None:
        self.diagnosis = diagnosis
        super().__init__(message, "CASSETTE_MISMATCH")


class CassetteRecordedError(CassetteError):
    """An error that a cassette recorded, or the abort of a replay before publication."""

    def __init__(self, message: str, code: str, recorded_name: str) -> None:
        self.recorded_name = recorded_name
        super().__init__(message, code)


class CassetteTypeError(DshLakeError, TypeError):
    """A place where the original fails with a plain TypeError, which has no code."""

    name = "TypeError"

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class InvalidRedactionPattern(DshLakeError, ValueError):
    """A redaction pattern that is no JavaScript regular expression; the original's error has no code."""

    name = "Error"

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.message = f'invalid cassette redaction pattern "{pattern}"'
        super().__init__(self.message)


class FixtureError(DshLakeError):
    """Something the session-snapshot kit refuses; the message is the kit's own."""


class SessionFormatError(FixtureError):
    """A session log that its generation's rules refuse; the message is the producer's."""


class UnsupportedMigration(SessionFormatError):
    """A session log that no released step leads to the next generation; the message is the producer's."""
