"""One writer at a time per cassette, by a folder beside it.

The rule: whoever makes the folder holds the lock; nobody infers that a lock is stale. The folder holds a
marker that names its owner, and only the owner's marker is ever removed.

Source: spec/cassette.md section 13 (lock).
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from dsh_lake.canonical import string_text
from dsh_lake.errors import CassetteFormatError

_MAY_BE_ACTIVE = (
    "another writer may be active (remove a stale lock only after confirming no writer is using it)"
)


class WriterLock:
    """A held lock; ``folder`` is its path."""

    def __init__(self, folder: Path, marker: Path) -> None:
        self.folder = folder
        self._marker = marker

    @classmethod
    def acquire(cls, target: str) -> WriterLock:
        """Take the lock of the cassette at absolute path ``target``.

        Raises:
            CassetteFormatError: it is held, or its folder cannot be found or made.
        """
        folder = Path(_real_path(target) + ".writer.lock")
        message = f'cannot acquire cassette writer lock "{folder}"'
        try:
            folder.mkdir()
        except FileExistsError as error:
            raise CassetteFormatError(f"{message}; {_MAY_BE_ACTIVE}") from error
        except OSError as error:
            raise CassetteFormatError(message) from error
        token = str(uuid4())
        marker = folder / f"{token}.json"
        try:
            with marker.open("x", encoding="utf-8") as file:
                file.write(_marker_line(token))
        except OSError as error:
            folder.rmdir()
            raise CassetteFormatError(message) from error
        return cls(folder, marker)

    def release(self) -> None:
        """Give the lock back; when the own marker is gone, the folder is somebody else's and stays.

        Raises:
            CassetteFormatError: the folder holds something else and stays.
        """
        message = f'cannot release cassette writer lock "{self.folder}"'
        try:
            self._marker.unlink()
        except FileNotFoundError:
            return
        except OSError as error:
            raise CassetteFormatError(message) from error
        try:
            self.folder.rmdir()
        except OSError as error:
            raise CassetteFormatError(f"{message}; the lock directory contains unowned data") from error


def _real_path(target: str) -> str:
    """``target`` with links followed; of a file that is not there yet, its folder's real path and name."""
    try:
        return os.path.realpath(target, strict=True)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _unresolvable(target) from error
    folder, name = os.path.split(target)
    try:
        return os.path.join(os.path.realpath(folder, strict=True), name)
    except OSError as error:
        raise _unresolvable(target) from error


def _unresolvable(target: str) -> CassetteFormatError:
    return CassetteFormatError(f'cannot resolve cassette path "{target}" for writing')


def _marker_line(token: str) -> str:
    now = iso_timestamp(datetime.now(UTC))
    return f'{{"ownerToken":{string_text(token)},"pid":{os.getpid()},"acquiredAt":"{now}"}}\n'


def iso_timestamp(instant: datetime) -> str:
    """``instant`` (UTC) as JavaScript's ``toISOString`` spells it."""
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
