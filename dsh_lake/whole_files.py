"""Files that are there wholly or not at all: written beside their place and renamed when all is written."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def written_whole(path: str | os.PathLike[str], *, is_private: bool) -> Iterator[IO[bytes]]:
    """An open binary file that takes the place of ``path`` at the end, and is gone if the end is not reached.

    Args:
        path: a file, replaced if it exists.
        is_private: readable by its owner alone; else as new files are.

    Raises:
        OSError: the file cannot be made; the error names ``path``.
    """
    folder, name = os.path.split(os.path.abspath(path))
    with _named(path):
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        # Made by mkstemp: readable by its owner alone.
        descriptor, unfinished = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with open(descriptor, "wb") as sink:
            yield sink
        if not is_private:
            os.chmod(unfinished, 0o666 & ~_umask())
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors name the file that was asked for, not the unfinished one beside it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _umask() -> int:
    """The permissions that new files are not given."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
