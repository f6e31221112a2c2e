"""The lower bounds of pyproject.toml as constraints for pip: exactly the oldest versions that are said to do.

    python tests/oldest.py > constraints.txt

`make oldest` installs with them and runs the tests that touch every library.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*])?>=(?P<version>[^,;\s]+)[^;]*(?P<marker>;.*)?")


def constraints(project: Path = PROJECT) -> list[str]:
    """One ``name==version`` for every bound, with its marker, sorted."""
    return sorted(set(_pinned(project)))


def _pinned(project: Path) -> Iterator[str]:
    about = tomllib.loads(project.read_text("utf-8"))["project"]
    for group in (about["dependencies"], *about["optional-dependencies"].values()):
        for requirement in group:
            if match := _BOUND.fullmatch(requirement):
                yield f"{match['name']}=={match['version']}{match['marker'] or ''}"


if __name__ == "__main__":
    print("\n".join(constraints()))
