"""Baselines that are kept for later: one JSON file each, ``<lake>/baselines/NAME.json``.

The rule: a file is there wholly or not at all, and is readable by its owner alone.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from dsh_lake.errors import LakeError, UsageError
from dsh_lake.whole_files import written_whole

FOLDER = "baselines"
VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""What Windows opens as a device in every folder, whatever stands behind the first dot."""


def check_name(name: str) -> None:
    """Refuse what would be no plain file name everywhere.

    Raises:
        UsageError: the name is none.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a baseline: up to 64 letters, digits, dots, dashes and underscores, "
            "the first one a letter or digit"
        )
    if _DEVICE.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a baseline: on Windows it is that of a device")


def save(lake: Path, name: str, document: dict[str, Any]) -> Path:
    """Keep a baseline under a name, in the place of an earlier one of that name; returns its file.

    Raises:
        UsageError: the name is none, or to this file system that of another one.
        OSError: the file cannot be written.
    """
    check_name(name)
    folder = lake / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    if (folder / f"{name}.json").exists() and name not in (known := names(lake)):
        alike = next((one for one in known if one.casefold() == name.casefold()), "another one")
        raise UsageError(f"{name!r} would take the place of the baseline {alike!r} here: choose another name")
    text = json.dumps({"version": VERSION, **document}, ensure_ascii=False, indent=1, allow_nan=False)
    with written_whole(folder / f"{name}.json", is_private=True) as sink:
        sink.write(f"{text}\n".encode())
    return folder / f"{name}.json"


def load(lake: Path, name: str) -> dict[str, Any]:
    """The baseline of that name.

    Raises:
        UsageError: the name is none, or no baseline was saved under it.
        LakeError: the file is none that this version can read.
    """
    check_name(name)
    path = lake / FOLDER / f"{name}.json"
    try:
        document = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        known = ", ".join(names(lake)) or "none"
        raise UsageError(f"no baseline is called {name!r}; saved are: {known}") from error
    except ValueError as error:
        raise LakeError(f"{path}: no baseline: {error}; save it again") from error
    version = document.get("version") if isinstance(document, dict) else None
    if version != VERSION:
        raise LakeError(f"{path}: a baseline of version {version!r}, not {VERSION}; save it again")
    return dict(document)


def names(lake: Path) -> list[str]:
    """The names of all that were saved, sorted."""
    return sorted(path.stem for path in (lake / FOLDER).glob("*.json"))
