"""Cassettes beyond reading their lines: verdicts, summaries, differences, matching, writing.

    load, find_faults      a verified cassette; everything that is wrong with a file
    summarise              counts and calls, with the texts of ``verify`` and ``inspect``
    compare_files          the difference between two cassettes, with the texts of ``diff``
    CassetteWriter         create, replace or continue a cassette
    recording, replay      providers that record and replay sub-agents (asyncio; import the modules)

Errors are ``CassetteError`` and carry the original tool's codes and messages.
"""

from __future__ import annotations

from dsh_lake.cassette.ambiguity import ambiguous_groups
from dsh_lake.cassette.compare import Comparison, compare_files
from dsh_lake.cassette.loading import Cassette, find_faults, load
from dsh_lake.cassette.summary import Summary, summarise
from dsh_lake.cassette.writer import CassetteWriter, new_header

__all__ = [
    "Cassette",
    "CassetteWriter",
    "Comparison",
    "Summary",
    "ambiguous_groups",
    "compare_files",
    "find_faults",
    "load",
    "new_header",
    "summarise",
]
