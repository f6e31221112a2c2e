"""However a line is spelled, the rows are those that its parsed values give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.ingest.session import SessionLines, _Line
from dsh_lake.ingest.state import FileState
from dsh_lake.ingest.text import Lines, Mark, is_valid_utf8
from dsh_lake.tables.sink import RowSink
from tests import logs


class ExactLines(SessionLines):
    """Reads every line the way that any spelling takes."""

    def _add_plain(self, lines: Iterator[_Line]) -> _Line | None:
        return next(lines, None)


PAYLOADS = st.sampled_from(
    [
        (
            "user/message",
            {
                "id": "u",
                "role": "user",
                "content": [{"type": "text", "text": "}}"}],
                "source": {"kind": "user"},
            },
        ),
        ("user/message", {"content": [{"type": "text", "text": ',"surfaceOp":"append"}'}]}),
        ("tool/call", {"turn": 1, "step": 2, "callId": "c", "name": "bash", "arguments": '{"a":[1]}'}),
        (
            "tool/result",
            {"message": {"source": {"callId": "c"}, "isError": True, "content": []}, "surfaceOp": "append"},
        ),
        ("tool/result", {"callId": "c", "content": [], "isError": 1}),
        ("assistant/message", {"turn": 1, "step": 1, "usage": {"inputTokens": 1, "outputTokens": 2}}),
        ("assistant/message", {"turn": "x", "step": None, "usage": {"inputTokens": -1}}),
        ("turn/start", {"turn": 3}),
        ("session/end-seed", {"inherited": True}),
        ("plugin/new", {"data": {"data": 1}}),
        ("turn/end", {}),
        ("turn/end", 5),
        ("turn/end", None),
        ("request/context", {"provider": "p", "model": "m", "time": [], "sourceEventSeqs": [1]}),
    ]
)
EXTRAS = st.lists(
    st.sampled_from(
        [
            '"surfaceOp":"append"',
            '"surfaceOp":{"op":"replace","startSeq":1,"endSeq":2}',
            '"sourceEventSeqs":[1,2]',
            '"sourceEventSeqs":[[1,2],3]',
            '"ignorable":true',
            '"data":{"turn":9}',
            '"seq":7',
            '"type":"turn/start"',
            '"time":5.5',
            '"x":{}',
        ]
    ),
    max_size=5,
)


def _spell(kind: str, seq: Any, time: Any, data: Any, extras: list[str], spaced: bool) -> bytes:
    separators = (", ", ": ") if spaced else (",", ":")
    body = json.dumps({"type": kind, "seq": seq, "time": time, "data": data}, separators=separators)
    return ",".join([body[:-1], *extras]).encode() + b"}"


@given(
    PAYLOADS,
    st.sampled_from([0, 1, 5, -1, 2**53, 1.0, 10**15, "1", None]),
    st.sampled_from([0, 1796000000000, -5, 1.5, 10**15, 10**17, None]),
    EXTRAS,
    st.booleans(),
    st.one_of(st.none(), st.tuples(st.integers(0, 200), st.integers(0, 255))),
    st.booleans(),
)
def test_one_pass_over_a_plain_line_gives_what_the_exact_way_gives(
    payload: tuple[str, Any],
    seq: Any,
    time: Any,
    extras: list[str],
    spaced: bool,
    damage: tuple[int, int] | None,
    with_content: bool,
) -> None:
    line = bytearray(_spell(*payload[:1], seq, time, payload[1], extras, spaced))
    if damage is not None:
        line[damage[0] % len(line)] = damage[1]
    if b"\n" in line:
        return
    plain = _rows(SessionLines, bytes(line), with_content)
    assert plain == _rows(ExactLines, bytes(line), with_content)


def _rows(reader: type[SessionLines], line: bytes, with_content: bool) -> Any:
    sink = RowSink(with_content=with_content)
    state = FileState()
    texts = [logs.header("s").rstrip(b"\n"), line, logs.user(1, "after").rstrip(b"\n")]
    is_odd = b"\r" in line or not is_valid_utf8(line)
    reader(state, sink).add(Lines(texts, [Mark(0, 1, 0)], is_odd))
    rows = {
        table: [
            tuple(bytes(v) if isinstance(v, memoryview) or type(v).__name__ == "Raw" else v for v in row)
            for row in held
        ]
        for table, held in sink.rows.items()
    }
    return rows, state
