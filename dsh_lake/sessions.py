"""The sessions of a lake as a table for people: one row each, newest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dsh_lake.readonly import read_rows

if TYPE_CHECKING:
    import pyarrow as pa

_QUERY = """
select
    s.started_at as time, s.title, s.workspace, s.model, s.turns, s.tool_calls as tools,
    s.tool_errors as errors, s.total_tokens as tokens, u.cost, u.currency, u.unpriced_calls, s.session_id
from session_summary as s
left join usage_by_session as u using (source_id)
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
        ``cost`` in ``currency`` (null where no call has a price), ``unpriced_calls`` (calls whose cost is not
        in it, null where there are no calls) and ``session_id``. Counts are of the session's own events, what
        is not known is null.

    Raises:
        LakeError: there is no lake, or no such scan.
        BadPrices: the lake's ``prices.csv`` cannot be used.
    """
    with read_rows(_QUERY, lake, as_of=as_of) as rows:
        return rows.read_all()
