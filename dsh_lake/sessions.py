"""The sessions of a lake as a table for people: one row each, newest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dsh_lake.readonly import read_rows

if TYPE_CHECKING:
    import pyarrow as pa

_QUERY = """
select
    started_at as time, title, workspace, model, turns, tool_calls as tools, tool_errors as errors,
    total_tokens as tokens, null::double as cost, session_id
from session_summary
order by time desc nulls last, session_id
"""


def sessions(lake: str | os.PathLike[str] | None = None, *, as_of: str | None = None) -> pa.Table:
    """One row per session, newest first; sub-agents have rows of their own.

    Args:
        lake: folder of the lake; by default ``$DSH_LAKE``, else below the user's data directory.
        as_of: ``scan_id`` of an earlier scan.

    Returns:
        ``time`` (when it began), ``title``, ``workspace`` (the folder it lies in), ``model`` (the one that
        used most), ``turns``, ``tools`` (calls), ``errors`` (failed calls), ``tokens`` (all buckets),
        ``cost`` and ``session_id``. Counts are of the session's own events, what is not known is null.

    Raises:
        LakeError: there is no lake, or no such scan.
    """
    with read_rows(_QUERY, lake, as_of=as_of) as rows:
        return rows.read_all()
