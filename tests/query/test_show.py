"""``dsh_lake.show``: one record, wherever it lies, with the numbers that a scan gives it."""

from __future__ import annotations

import datetime as dt
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import zstandard

import dsh_lake
from demo_lake import DemoLake
from dsh_lake.errors import LakeError, SourceError, UnreadableSource, UsageError
from logs import START_MS, event, frame, header, line, log_path, user


def shown(path: Path, place: str) -> dict[str, Any]:
    return dsh_lake.show(f"{path}#{place}")


def decoded(path: Path) -> list[tuple[int | None, int, bytes]]:
    """Frame, byte and text of each line, by a plain decoder: of the frame, in a plain file of the line."""
    content, lines = path.read_bytes(), []
    if path.suffix != ".zstd":
        at = 0
        for text in content.splitlines(keepends=True):
            lines.append((None, at, text))
            at += len(text)
        return lines
    number, at = 1, 0
    while at < len(content):
        decoder = zstandard.ZstdDecompressor().decompressobj()
        text = decoder.decompress(content[at:])
        lines += [(number, at, one) for one in text.splitlines(keepends=True)]
        if not decoder.eof:
            break
        number, at = number + 1, len(content) - len(decoder.unused_data)
    return lines


def iso(time_ms: int) -> str:
    at = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=time_ms)
    return at.isoformat(timespec="microseconds") + "Z"


def test_every_line_of_the_demo_home_is_shown_as_it_is(demo: DemoLake) -> None:
    logs = [
        *demo.home.glob("sessions/*/*/session.v3.jsonl.zstd"),
        *demo.home.glob("sessions/*/*/session.v4.jsonl"),
    ]
    count = 0
    for log in sorted(logs)[:4]:
        for number, (frame_number, offset, text) in enumerate(decoded(log), start=1):
            record = json.loads(text)
            found = shown(log, f"L{number}")
            place = (found["line"], found["frame"], found["byte_offset"])
            assert place == (number, frame_number, offset)
            assert found["record"] == record
            assert found["type"] == record["type"]
            assert found["seq"] == record.get("seq")
            assert found["time"] == (iso(record["time"]) if "time" in record else None)
            assert found["notes"] == []
            count += 1
    assert count > 100


def test_a_session_is_found_by_the_beginning_of_its_id(demo: DemoLake) -> None:
    rows = dsh_lake.sql(
        "select session_id, path, line, seq, data from events "
        "inner join sources using (source_id, session_id) where type = 'user/message' and not is_recovered",
        demo.lake,
    ).to_pylist()
    assert len(rows) > 20
    for row in rows[::12]:
        by_seq = dsh_lake.show(f"{row['session_id']}#seq={row['seq']}", demo.lake)
        assert (by_seq["line"], by_seq["path"]) == (row["line"], row["path"])
        assert by_seq["record"]["data"] == json.loads(row["data"])
        bare = row["session_id"].removeprefix("session-")
        assert dsh_lake.show(f"{bare[:18]}#L{row['line']}", demo.lake) == by_seq


def test_an_ambiguous_beginning_is_refused_with_the_sessions_it_begins(demo: DemoLake) -> None:
    listed = dsh_lake.sql("select session_id from sessions order by all", demo.lake)["session_id"].to_pylist()
    ids = [name for name in listed if name.startswith("session-")]
    with pytest.raises(UsageError) as raised:
        dsh_lake.show("session-#L1", demo.lake)
    message = str(raised.value)
    assert f"{len(ids)} sessions begin with session-" in message
    assert ids[0] in message
    assert f"and {len(ids) - 5} more" in message


def test_an_id_that_is_also_the_beginning_of_another_is_itself(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("abc", "abcd"):
        log = log_path(home, name)
        log.write_bytes(frame(header(name)) + frame(user(0, name)))
    dsh_lake.scan(home, lake=tmp_path / "lake", jobs=1)
    assert dsh_lake.show("abc#L1", tmp_path / "lake")["record"]["id"] == "abc"
    assert dsh_lake.show("abcd#seq=0", tmp_path / "lake")["record"]["data"]["content"][0]["text"] == "abcd"
    with pytest.raises(UsageError, match="2 sessions begin with ab"):
        dsh_lake.show("ab#L1", tmp_path / "lake")


def test_a_session_whose_file_is_gone_is_shown_from_the_lake(tmp_path: Path) -> None:
    home, lake = tmp_path / "home", tmp_path / "lake"
    log = log_path(home, "gone")
    log.write_bytes(frame(header("gone")) + frame(user(0, "remember me")))
    dsh_lake.scan(home, lake=lake, jobs=1)
    shutil.rmtree(log.parent)
    for place in ("L2", "seq=0"):
        found = dsh_lake.show(f"gone#{place}", lake)
        assert found["record"]["data"]["content"] == [{"type": "text", "text": "remember me"}]
        assert (found["line"], found["frame"], found["seq"], found["byte_offset"]) == (2, 2, 0, None)
        assert found["time"] == iso(START_MS)
        assert "the file is gone" in found["notes"][0]
    with pytest.raises(LakeError, match="its file is gone"):
        dsh_lake.show("gone#L9", lake)


def test_a_lake_without_content_says_that_it_has_no_text(tmp_path: Path) -> None:
    log = log_path(tmp_path / "home", "gone")
    log.write_bytes(frame(header("gone"), user(0, "secret")))
    dsh_lake.scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1, content=False)
    log.unlink()
    found = dsh_lake.show("gone#seq=0", tmp_path / "lake")
    assert found["record"]["data"] is None
    assert found["notes"][1:] == ["the lake keeps no text of it"]


def test_an_event_of_a_packed_row_is_shown_with_its_row(tmp_path: Path) -> None:
    packed = {"turn": 1, "step": 2, "index": 0, "dt": [5, 7], "texts": ["a", "b\n", "ç"]}
    row = line({"type": "text-chunks", "seq0": 1, "time0": START_MS, "data": packed})
    log = tmp_path / "session.jsonl"
    log.write_bytes(header("packed", 0) + event("turn/start", 0, {"turn": 1}) + row)
    whole = shown(log, "L3")
    assert (whole["seq"], whole["members"], whole["type"]) == (1, 3, "text-chunks")
    assert "member" not in whole
    found = shown(log, "seq=3")
    assert found["line"] == 3
    assert found["record"]["data"] == packed
    assert found["member"] == {
        "seq": 3,
        "time": iso(START_MS + 12),
        "type": "assistant/chunk",
        "data": {"turn": 1, "step": 2, "chunk": {"type": "text-delta", "index": 0, "text": "ç"}},
    }
    with pytest.raises(SourceError, match="no seq 4"):
        shown(log, "seq=4")


def test_lines_of_a_torn_end_are_shown_and_marked(tmp_path: Path) -> None:
    log = tmp_path / "session.v4.jsonl.zstd"
    noise = random.Random(1)
    texts = [user(seq, noise.randbytes(90_000).hex()) for seq in range(1, 5)]
    last = zstandard.ZstdCompressor(level=1).compress(b"".join(texts))
    whole = frame(header("torn")) + frame(user(0, "kept"))
    log.write_bytes(whole + last[: len(last) * 3 // 4])
    assert shown(log, "L2")["is_recovered"] is False
    found = shown(log, "L3")
    assert found["is_recovered"] is True
    assert "torn end" in found["notes"][0]
    assert found["record"] == json.loads(texts[0])
    for number in (3, 4):
        found = shown(log, f"L{number}")
        assert (found["byte_offset"], found["seq"]) == (len(whole), number - 2)
    with pytest.raises(SourceError, match=r"there is no line 99: it has \d+ lines; .*\(byte \d+\)"):
        shown(log, "L99")


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        (b'{"type":"user/message","seq":1,]}', "malformed-json", 31),
        (b'{"type":"a","text":"\xff\xfe"}', "invalid-utf8", 20),
        (b'{"type":7}', "not-an-event", 0),
        (b'{"type":"a","n":NaN}', "malformed-json", 0),
    ],
)
def test_a_rejected_line_is_shown_with_the_reason_and_its_bytes(
    text: bytes, code: str, at: int, tmp_path: Path
) -> None:
    log = tmp_path / "session.v4.jsonl"
    log.write_bytes(header("bad") + text + b"\n" + user(2, "fine"))
    found = shown(log, "L2")
    assert found["rejected"]["code"] == code
    assert found["record"] is None
    begin = found["hex_offset"]
    assert begin == max(0, at - 24)
    assert bytes.fromhex(found["hex"]) == text[begin : begin + 48]
    assert shown(log, "seq=2")["line"] == 3


def test_records_that_were_joined_are_shown_both(tmp_path: Path) -> None:
    first, second = user(0, "one"), user(1, "two")
    log = tmp_path / "session.v4.jsonl.zstd"
    log.write_bytes(frame(header("joined")) + frame(first.rstrip(b"\n")) + frame(second))
    found = shown(log, "L2")
    assert found["record"] == [json.loads(first), json.loads(second)]
    assert found["seq"] == 0
    assert shown(log, "seq=1")["record"] == json.loads(second)


def test_a_blank_line_is_a_line(tmp_path: Path) -> None:
    log = tmp_path / "session.v4.jsonl"
    log.write_bytes(header("blank") + b"\n" + user(0, "after"))
    found = shown(log, "L2")
    assert (found["record"], found["notes"]) == (None, ["the line is blank"])
    assert shown(log, "L3")["seq"] == 0


def test_a_file_that_is_in_no_lake_is_shown_all_the_same(tmp_path: Path) -> None:
    log = tmp_path / "session.v9.jsonl"
    log.write_bytes(line({"type": "session", "version": 9, "id": "new"}) + line({"type": "x", "seq": 0}))
    found = shown(log, "L2")
    assert found["record"] == {"type": "x", "seq": 0}
    assert "format 9" in found["notes"][0]


def test_numbers_beyond_all_bounds_do_not_break_json(tmp_path: Path) -> None:
    log = tmp_path / "session.v4.jsonl"
    data = b'{"a":1e999,"b":[-1e999],"c":12345678901234567890123,"d":0.1}'
    log.write_bytes(header("big") + b'{"type":"user/message","seq":0,"time":1,"data":' + data + b"}\n")
    record = shown(log, "L2")["record"]
    assert record["data"] == {"a": "inf", "b": ["-inf"], "c": 12345678901234567890123, "d": 0.1}
    json.dumps(record, allow_nan=False)


def test_a_path_may_hold_anything(tmp_path: Path) -> None:
    log = tmp_path / "a#L1 #seq=2" / "session.v4.jsonl"
    log.parent.mkdir()
    log.write_bytes(header("odd"))
    assert shown(log, "L1")["record"]["id"] == "odd"


@pytest.mark.parametrize(
    "reference", ["", "#L1", "x", "x#", "x#L0", "x#L", "x#L-1", "x#seq=", "x#seq=-1", "x#M1"]
)
def test_what_names_no_record_is_refused(reference: str) -> None:
    with pytest.raises(UsageError, match="names no record"):
        dsh_lake.show(reference)


def test_what_is_not_there_is_said(demo: DemoLake, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        shown(tmp_path / "session.v4.jsonl", "L1")
    with pytest.raises(UnreadableSource, match="not a regular file"):
        shown(tmp_path, "L1")
    with pytest.raises(LakeError, match="no session begins with 'nobody'"):
        dsh_lake.show("nobody#L1", demo.lake)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(SourceError, match="there is no line 1: it has 0 lines"):
        shown(tmp_path / "empty.jsonl", "L1")
