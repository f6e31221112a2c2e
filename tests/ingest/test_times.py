"""The first and last time of a log are those of its events, in whatever order and batches they come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.ingest.session import SessionLines
from dsh_lake.ingest.state import FileState
from dsh_lake.ingest.text import Lines, Mark
from dsh_lake.tables.sink import RowSink
from tests import logs

TIMES = st.one_of(st.none(), st.integers(0, 2_000_000_000_000))


@given(st.lists(st.lists(TIMES, min_size=1), min_size=1), st.booleans())
def test_a_log_begins_and_ends_with_its_earliest_and_latest_event(
    batches: list[list[int | None]], with_content: bool
) -> None:
    state = FileState()
    lines = SessionLines(state, RowSink(with_content=with_content))
    lines.add(Lines([logs.header("s").rstrip(b"\n")], [Mark(0, 1, 0)], False))
    for times in batches:
        texts = [logs.event("step/start", 0, {"turn": 7}, time=time) for time in times]
        lines.add(Lines([text.rstrip(b"\n") for text in texts], [Mark(0, 1, 0)], False))
    known = [1000 * time for times in batches for time in times if time is not None]
    assert (state.first_event_us, state.last_event_us) == (min(known, default=None), max(known, default=None))
