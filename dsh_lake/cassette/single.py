"""Whether a question is about one file, which is answered in the original tool's words."""

from __future__ import annotations

import os
from collections.abc import Sequence

GLOB = frozenset("*?[")


def single_file(paths: Sequence[str]) -> str | None:
    """The one file that is meant, there or not; None for several paths, a folder or a pattern."""
    if len(paths) != 1 or is_folder(paths[0]) or is_pattern(paths[0]):
        return None
    return paths[0]


def is_folder(path: str) -> bool:
    """Whether there is a folder at ``path``."""
    return os.path.isdir(path)


def is_pattern(path: str) -> bool:
    """Whether ``path`` can only be a pattern: it has its marks, and nothing is called so."""
    return bool(GLOB & set(path)) and not os.path.lexists(path)
