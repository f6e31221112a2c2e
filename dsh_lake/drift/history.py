"""Since when something differs: earlier results of the same comparison, one a night.

The rule: a difference began on the first of the nights, without a gap up to now, on which the same part of
the same scenario differed for the same cause. What no earlier night knows is new.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from dsh_lake.errors import UnreadableSource

Difference = tuple[str, str, str]
"""Scenario, part (``session 0``, the name of an output, ``workspace``) and cause."""
_WORKSPACE = "workspace"


class Night(NamedTuple):
    """An earlier result: the name of its file without its ending, and what differed."""

    name: str
    differences: frozenset[Difference]


def read_nights(folder: str | os.PathLike[str]) -> list[Night]:
    """The results in a folder, by name: what ``fixtures drift --format json`` wrote as ``*.json``.

    Raises:
        UnreadableSource: the folder or a file cannot be read, or a file is no such result.
    """
    place = Path(folder)
    if not place.is_dir():
        raise UnreadableSource(str(place), "no folder of earlier results")
    nights = []
    for path in sorted(place.glob("*.json")):
        try:
            document = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
            nights.append(Night(path.stem, frozenset(differences(document))))
        except (OSError, msgspec.MsgspecError, LookupError, TypeError, AttributeError) as error:
            raise UnreadableSource(
                str(path), f"no result of `fixtures drift --format json`: {error}"
            ) from error
    return nights


def differences(document: Mapping[str, Any]) -> Iterator[Difference]:
    """What differs in a result, as :meth:`dsh_lake.drift.verdict.Drift.document` gives it."""
    for scenario in document["scenarios"]:
        for part in (*scenario["roles"], *scenario.get("outputs", ())):
            if part["status"] != "equal":
                name = f"session {part['role']}" if "role" in part else part["name"]
                yield scenario["scenario"], name, part["cause"]
        if scenario["workspace_equal"] is False:
            yield scenario["scenario"], _WORKSPACE, "workspace-changed"


def since(difference: Difference, nights: Sequence[Night]) -> str | None:
    """The name of the night on which a difference of now began; None where the last night had none."""
    began = None
    for night in reversed(nights):
        if difference not in night.differences:
            break
        began = night.name
    return began
