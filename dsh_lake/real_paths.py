"""Real paths, spelled as the folders on disk spell them.

The rule: two spellings of one file are one path. ``os.path.realpath`` ends at links; where a file system
takes ``Sessions`` and ``sessions`` for one name (macOS, Windows, shares), or both ways of writing an accented
letter, it leaves the spelling of whoever asked, and the same file would be met twice.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import PurePath

Names = Callable[[str], Iterable[str]]
IsSame = Callable[[str, str], bool]


def true_path(path: str | os.PathLike[str], *, strict: bool = True) -> str:
    """The path without links, each name as it is listed.

    Args:
        strict: refuse a path at which there is nothing.

    Raises:
        OSError: with ``strict``, there is nothing, or it cannot be looked at.
        ValueError: with ``strict``, no file system can have such a path.
    """
    return as_listed(os.path.realpath(path, strict=strict))


def is_below(path: str, root: str) -> bool:
    """Whether a real path is the root or lies in it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def as_listed(path: str, *, names: Names = os.listdir, is_same: IsSame = _is_same) -> str:
    """An absolute path with each name spelled as its folder lists it.

    A folder is listed only where another spelling of the name leads to the same file, so that on file systems
    that tell spellings apart this costs a look or two per name.

    Args:
        names: lists a folder.
        is_same: whether two paths lead to one file; false where one leads nowhere.
    """
    spelled, *rest = PurePath(path).parts
    for name in rest:
        spelled = os.path.join(spelled, _listed_name(spelled, name, names, is_same))
    return spelled


def _listed_name(folder: str, name: str, names: Names, is_same: IsSame) -> str:
    path = os.path.join(folder, name)
    others = {name.swapcase(), *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))} - {name}
    if not any(is_same(os.path.join(folder, other), path) for other in others):
        return name
    try:
        listed = set(names(folder))
    except OSError:
        return name
    if name in listed:
        return name
    alike = [one for one in listed if _key(one) == _key(name) and is_same(os.path.join(folder, one), path)]
    return alike[0] if len(alike) == 1 else name


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
