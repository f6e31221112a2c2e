"""A text cut in the middle of an emoji is written as a lone surrogate: nothing fails of it."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import dsh_lake
from corpus import THOROUGH
from dsh_lake import sqlassets
from dsh_lake.treatments import DATA_MEMBERS
from logs import header

CUT = "cut \ud83d"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake of one sub-agent's session, in which the data of every event holds half a character."""
    data = {"turn": 1, "step": 1, "name": "bash", "callId": "c", "arguments": "{}", "excerpt": CUT}
    kinds = ("subagent/descriptor", "turn/start", "user/message", *DATA_MEMBERS)
    lines = [json.dumps({"type": kind, "seq": at, "time": at, "data": data}) for at, kind in enumerate(kinds)]
    log = tmp_path / "home" / "sessions" / "--w--" / "session-a" / "session.v4.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(header("session-a", origin="subagent") + "\n".join([*lines, ""]).encode("ascii"))
    dsh_lake.scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1)
    return tmp_path / "lake"


def test_every_view_answers(lake: Path) -> None:
    with dsh_lake.connect(lake) as connection:
        for view in dsh_lake.views()[:: 1 if THOROUGH else 4]:
            connection.sql(f'from "{view["name"]}"').fetchall()


def test_the_lake_can_be_shared(lake: Path, tmp_path: Path) -> None:
    dsh_lake.export(None, tmp_path / "shared", lake=lake, metadata_only=True)
    names = dsh_lake.sql(
        "select data ->> '$.name' as name from events where type = 'tool/call'", tmp_path / "shared"
    )
    assert names.to_pydict() == {"name": ["bash"]}


@pytest.mark.parametrize(
    "text",
    [CUT, "\ude00\ud83d \U0001f600 \udbff", "\\ud83d", "\\\ud83d", '"\\\\\udfff\n', "plain"],
    ids=ascii,
)
@pytest.mark.parametrize("capitals", [False, True])
def test_only_half_characters_are_replaced(text: str, capitals: bool) -> None:
    written = json.dumps({"a": text})
    if capitals:
        written = written.replace("\\ud", "\\uD")
        text = json.loads(written)["a"]
    macro = sqlassets.load("aggregates")["parsable"].text.partition("select ")[2]
    (found,) = (
        duckdb.execute(f"select ({macro})::json ->> 'a' from (select ? as text)", [written]).fetchone() or ()
    )
    assert found == "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text)
