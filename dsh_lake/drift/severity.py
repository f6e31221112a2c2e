"""How grave a difference of each tier is: what fails a comparison, what is only told.

    [severity]
    shape = "fail"     # events, settings, files, whole sessions
    tools = "fail"     # which tools were called, with what, and whether they failed
    text = "fail"      # words and counts of tokens
    noise = "info"     # what differs between two runs of the same

``fail`` ends a comparison with 2, ``warn`` and ``info`` do not.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping

from dsh_lake.errors import UnreadableSource, UsageError

TIERS = ("shape", "tools", "text", "noise")
"""From the gravest to the least."""
SEVERITIES = ("fail", "warn", "info")
DEFAULT: Mapping[str, str] = {"shape": "fail", "tools": "fail", "text": "fail", "noise": "info"}


def read_severities(path: str | os.PathLike[str]) -> dict[str, str]:
    """The severity of every tier, from a file in TOML; what it does not name stays as it is by default.

    Raises:
        UnreadableSource: the file cannot be read.
        UsageError: it is no TOML, or names something that there is not.
    """
    shown = os.fspath(path)
    try:
        with open(path, "rb") as file:
            stated = tomllib.load(file)
    except OSError as error:
        raise UnreadableSource(shown, error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{shown}: no TOML: {error}") from error
    table = stated.pop("severity", {})
    if stated or not isinstance(table, dict):
        raise UsageError(f"{shown}: only a table [severity] belongs here")
    for tier, severity in table.items():
        if tier not in TIERS or severity not in SEVERITIES:
            raise UsageError(
                f"{shown}: severity of a tier ({', '.join(TIERS)}) is one of {', '.join(SEVERITIES)}"
            )
    return {**DEFAULT, **table}
