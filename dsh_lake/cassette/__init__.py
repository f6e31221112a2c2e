"""Cassettes: recorded calls of sub-agents, verified, compared, matched, written, recorded and replayed.

    verify, ambiguity, diff_trees   any number of files, folders or patterns at once
    match, from_sessions            replay matching offline; cassettes of past sessions
    load, find_faults               one verified cassette; everything that is wrong with one file
    summarise, compare_files        one or two files, with the original's texts (``outputs`` has the commands)
    CassetteWriter, new_header      create, replace or continue a cassette
    RecordingProvider, ReplayProvider
                                    record and replay sub-agents in Python (asyncio)

Errors are ``CassetteError`` and carry the original tool's codes and messages. Names are loaded when first
used: reading one file needs none of the libraries that many need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsh_lake.cassette.ambiguities import ambiguity as ambiguity
    from dsh_lake.cassette.compare import Comparison as Comparison
    from dsh_lake.cassette.compare import compare_files as compare_files
    from dsh_lake.cassette.derived import from_sessions as from_sessions
    from dsh_lake.cassette.groups import ambiguous_groups as ambiguous_groups
    from dsh_lake.cassette.loading import Cassette as Cassette
    from dsh_lake.cassette.loading import find_faults as find_faults
    from dsh_lake.cassette.loading import load as load
    from dsh_lake.cassette.offline import match as match
    from dsh_lake.cassette.recording import RecordingProvider as RecordingProvider
    from dsh_lake.cassette.replay import ReplayProvider as ReplayProvider
    from dsh_lake.cassette.summary import Summary as Summary
    from dsh_lake.cassette.summary import summarise as summarise
    from dsh_lake.cassette.tree_diff import diff_trees as diff_trees
    from dsh_lake.cassette.verification import verify as verify
    from dsh_lake.cassette.writer import CassetteWriter as CassetteWriter
    from dsh_lake.cassette.writer import new_header as new_header

_HOMES = {
    "Cassette": "loading",
    "CassetteWriter": "writer",
    "Comparison": "compare",
    "RecordingProvider": "recording",
    "ReplayProvider": "replay",
    "Summary": "summary",
    "ambiguity": "ambiguities",
    "ambiguous_groups": "groups",
    "compare_files": "compare",
    "diff_trees": "tree_diff",
    "find_faults": "loading",
    "from_sessions": "derived",
    "load": "loading",
    "match": "offline",
    "new_header": "writer",
    "summarise": "summary",
    "verify": "verification",
}

__all__ = [
    "Cassette",
    "CassetteWriter",
    "Comparison",
    "RecordingProvider",
    "ReplayProvider",
    "Summary",
    "ambiguity",
    "ambiguous_groups",
    "compare_files",
    "diff_trees",
    "find_faults",
    "from_sessions",
    "load",
    "match",
    "new_header",
    "summarise",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
