"""Frame boundaries and texts by other code than ours: the bindings that Python itself ships."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def frames(content: bytes) -> list[tuple[int, bytes]]:
    """Length and text of each frame of an intact archive; skippable ones have no text.

    Raises:
        zstd.ZstdError: the archive is not intact.
    """
    found = []
    while content:
        size = zstd.get_frame_size(content)
        found.append((size, zstd.decompress(content[:size])))
        content = content[size:]
    return found


def intact(archives: list[Path]) -> Iterator[tuple[Path, list[tuple[int, bytes]]]]:
    """The archives that the oracle can read from end to end, with what it reads."""
    for path in archives:
        try:
            yield path, frames(path.read_bytes())
        except zstd.ZstdError:
            continue
