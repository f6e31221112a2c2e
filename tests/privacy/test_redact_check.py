"""Secrets of a lake: exactly what recording a cassette would redact, told by place and never by value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsh_lake
from dsh_lake import sqlassets
from dsh_lake.cassette.redact import REDACTED, Redactor
from dsh_lake.errors import LakeError
from dsh_lake.redact_check import finding_rows
from dsh_lake.schemas import STORED
from dsh_lake.secret_patterns import PATTERNS
from logs import START_MS, call, event, frame, header, line, log_path, user
from tests.cassette import made
from tests.cassette.cases import vectors

BEARER = "Bearer abc.def-ghi_jkl"
TOKEN = "sk-0123456789abcdef"
AWS = "AKIA0123456789ABCDEF"


def lake_of(folder: Path, *lines: bytes, version: int = 4) -> Path:
    """A lake of one session with these lines, the first of which is line 2."""
    log_path(folder / "home", "one").write_bytes(frame(header("one", version)) + frame(*lines))
    dsh_lake.scan(folder / "home", lake=folder / "lake", jobs=1)
    return folder / "lake"


def found(lake: Path, table: str = "events") -> list[tuple[int, str]]:
    """Line and kind of each finding in one table."""
    findings = dsh_lake.redact_check(lake)["findings"]
    return [(one["line"], one["kind"]) for one in findings if one["table"] == table]


# -- what is a secret --------------------------------------------------------------------------------------


def test_the_handed_verdicts() -> None:
    """A value is found if and only if the original redacts something of it that is not redacted yet."""
    cases = [case.values[0] for case in vectors("redact")]
    cases = [case for case in cases if case["enabled"] and not case["patterns"] and "count" in case]
    cases = [case for case in cases if REDACTED not in case["input"]]
    hit = hit_texts((case["input"], True) for case in cases)
    wrong = [case["input"] for number, case in enumerate(cases) if (case["count"] > 0) != (number in hit)]
    assert len(cases) > 10
    assert wrong == []


def hit_texts(texts: Iterable[tuple[str, bool]]) -> set[int]:
    """Positions of the texts (and whether each is JSON) that hold a secret."""
    (query,) = sqlassets.load("redaction").values()
    rows = pa.table(
        {
            "number": range(len(texts := list(texts))),
            "text": [text for text, _ in texts],
            "is_json": [is_json for _, is_json in texts],
        }
    )
    place = "{path: '', line: number, table_name: '', column_name: '', is_current: true}"
    with duckdb.connect() as connection:
        connection.register("given", rows)
        connection.execute(f"create view free_texts as select {place} as place, text, is_json from given")
        parameters = {**PATTERNS, "redacted": REDACTED, "key": "k"}
        return {row[1] for row in connection.sql(query.text, params=parameters).fetchall()}


PIECES = (
    *("bearer", "Bearer", "bEARER", "sk-", "SK_", "ghp_", "ghx_", "AKIA", "akia", "0123456789ABCDEF"),
    *("api", "key", "access", "id", "refresh", "client", "token", "Token", "secret", "password", "cookie"),
    *("authorization", "Author", "_", "-", "=", ":", " = ", ": ", '"', "'", ",", "}", "{", "[", "\\", "\n"),
    *(" ", "\u00a0", "\u0085", "\u2028", "\ufeff", "a", "abcd", "abcdefghijkl", "0", "/", ".", "~", "+"),
    *("\u212a", "\u017f", "\u00e9", "\U0001f600", "\U0001f600\U0001f600", "\u5bfc\u51fa", "\0", "\x1b[0m"),
)


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=9).map("".join), max_size=40))
def test_a_text_is_found_if_and_only_if_recording_would_change_it(texts: list[str]) -> None:
    plain = [text for text in texts if not text.lstrip(" \n").startswith(("{", "["))]
    expected = {number for number, text in enumerate(plain) if Redactor().text(text)[1]}
    assert hit_texts((text, False) for text in plain) == expected
    for is_ascii in (True, False):
        documents = (json.dumps({"x": [text]}, ensure_ascii=is_ascii) for text in plain)
        assert hit_texts((document, True) for document in documents) == expected


_UNESCAPED = [piece for piece in PIECES if json.dumps(piece, ensure_ascii=False) == f'"{piece}"']
_NAMES = st.lists(st.sampled_from(_UNESCAPED), max_size=4).map("".join)
"""Names that JSON spells as they are: others are looked at as they are spelled."""


@given(st.lists(st.tuples(_NAMES, st.sampled_from(["x", 5, -1.5e3, {"a": "b"}, [1]])), max_size=40))
def test_a_member_is_found_if_and_only_if_recording_would_change_it(members: list[tuple[str, Any]]) -> None:
    values = [{"deep": [{name: value}, "y"]} for name, value in members]
    expected = {number for number, value in enumerate(values) if Redactor().value(value)[1]}
    assert hit_texts((json.dumps(value, ensure_ascii=False), True) for value in values) == expected


@pytest.mark.parametrize("text", [f"curl -H '{BEARER}'", TOKEN, AWS, "password = hunter2", 'TOKEN="abcde"\n'])
def test_a_secret_is_found_however_deep_and_however_escaped(text: str) -> None:
    documents, spelled = [], text
    for _ in range(4):
        documents += [
            f'{{"arguments":{json.dumps(spelled)}}}',
            escaped(f'{{"arguments":{json.dumps(spelled)}}}'),
        ]
        spelled = f'{{"command":{json.dumps(spelled)}}}'
    assert hit_texts((document, True) for document in documents) == set(range(len(documents)))


def escaped(document: str) -> str:
    """The same JSON with every letter, digit and sign of its texts spelled as an escape."""
    name, colon, text = document.partition(":")
    units = "".join(f"\\u{ord(unit):04x}" for unit in json.loads(text[:-1]))
    return f'{name}{colon}"{units}"}}'


def test_half_characters_deep_nesting_and_absurd_numbers_hide_nothing() -> None:
    texts = [
        f'{{"a":"\\ud83d","b":"{TOKEN}"}}',
        '{"a":"password=\\ud83d\\ud83d\\ud83d\\ud83d"}',
        f'{{"a":{"[" * 5000}"{TOKEN}"{"]" * 5000}}}',
        f'{{"a":1e999,"b":"{TOKEN}"}}',
        '{"a":"password=\\ud83d\\ud83d\\ud83d"}',
    ]
    assert hit_texts((text, True) for text in texts) == {0, 1, 2, 3}


def test_what_is_redacted_or_empty_is_no_secret() -> None:
    texts = [
        f"Authorization: {REDACTED}",
        json.dumps({"password": REDACTED, "token": "", "apiKey": None, "secret": False}),
    ]
    assert hit_texts((text, text[0] == "{") for text in texts) == set()


# -- where it is looked for --------------------------------------------------------------------------------


def test_every_column_that_is_declared_to_be_content_is_looked_through(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, user(0, "hello"))
    columns = {
        f"{table.name}.{column.name}"
        for table in STORED.values()
        for column in table.stored
        if column.is_content
    }
    assert set(dsh_lake.redact_check(lake)["columns"]) == columns
    assert {"events.data", "events.packed_texts", "tool_calls.arguments", "sources.title"} <= columns


def test_secrets_are_told_by_kind_and_place(tmp_path: Path) -> None:
    arguments = json.dumps({"command": f"curl -H 'X: {BEARER}'"})
    lines = (
        user(0, f"use {TOKEN} please"),
        call(1, "c", arguments=arguments),
        event("session/title", 2, {"title": f"the {AWS} one"}),
        user(3, f"again {TOKEN}"),
    )
    result = dsh_lake.redact_check(lake_of(tmp_path, *lines))
    places = [(one["kind"], one["line"], one["table"], one["column"]) for one in result["findings"]]
    assert sorted(places, key=str) == sorted(
        [
            ("token", 2, "events", "data"),
            ("bearer", 3, "events", "data"),
            ("bearer", 3, "tool_calls", "arguments"),
            ("aws-key-id", 4, "events", "data"),
            ("aws-key-id", None, "sources", "title"),
            ("token", 5, "events", "data"),
        ],
        key=str,
    )
    assert {one["path"] for one in result["findings"]} == {str(log_path(tmp_path / "home", "one"))}
    told = {kind["kind"]: (kind["secrets"], kind["places"]) for kind in result["kinds"]}
    assert told == {
        "bearer": (1, 2),
        "token": (1, 2),
        "aws-key-id": (1, 2),
        "assignment": (0, 0),
        "member": (0, 0),
    }
    assert not result["ok"]
    assert [{**row} for row in finding_rows(result).read_all().to_pylist()] == result["findings"]


def test_a_secret_in_pieces_of_a_packed_row_is_found(tmp_path: Path) -> None:
    pieces = {
        "turn": 1,
        "step": 1,
        "index": 0,
        "texts": ["it is sk-0123", "456789ab", "cdef \U0001f600"],
        "dt": [1, 2],
    }
    packed = line({"type": "text-chunks", "seq0": 0, "time0": START_MS, "data": pieces})
    result = dsh_lake.redact_check(lake_of(tmp_path, packed, version=1))
    places = [(one["kind"], one["line"], one["table"], one["column"]) for one in result["findings"]]
    assert places == [("token", 2, "events", "packed_texts")]


def test_labels_of_cassettes_are_texts_too(tmp_path: Path) -> None:
    request = {"prompt": [{"type": "text", "text": "x"}], "label": TOKEN}
    ended = {"kind": "result", "redactions": 0, "result": {"output": [], "stopReason": "completed"}}
    home = tmp_path / "home"
    home.mkdir()
    made.write(home / "a.cassette.jsonl", made.bodies([(request, ended, "root")], "metadata"), "metadata")
    dsh_lake.scan(home, lake=tmp_path / "lake", jobs=1)
    assert found(tmp_path / "lake", "interactions") == [(2, "token")]


def test_what_a_file_once_held_is_found_until_it_is_compacted(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, user(0, TOKEN))
    log_path(tmp_path / "home", "one").write_bytes(frame(header("one")) + frame(user(0, "nothing")))
    log_path(tmp_path / "home", "two").write_bytes(frame(header("two")))
    dsh_lake.scan(tmp_path / "home", lake=lake, jobs=1)
    assert [one["is_current"] for one in dsh_lake.redact_check(lake)["findings"]] in ([False], [])
    dsh_lake.compact(lake, keep_days=0)
    assert dsh_lake.redact_check(lake)["findings"] == []


# -- what is told of it ------------------------------------------------------------------------------------


def test_fingerprints_tell_equal_secrets_and_nothing_else(tmp_path: Path) -> None:
    other = TOKEN.replace("0", "9")
    lake = lake_of(tmp_path, user(0, TOKEN), user(1, other), user(2, TOKEN))
    results = [dsh_lake.redact_check(lake) for _ in range(2)]
    for result in results:
        first, second, third = (one["fingerprint"] for one in result["findings"])
        assert first == third != second
        assert hashlib.sha256(TOKEN.encode()).hexdigest()[:12] != first
        assert not [secret for secret in (TOKEN, other) if secret[3:] in json.dumps(result)]
    assert results[0]["findings"][0]["fingerprint"] != results[1]["findings"][0]["fingerprint"]


def test_a_lake_without_content_has_nothing_to_check(tmp_path: Path) -> None:
    log_path(tmp_path / "home", "one").write_bytes(frame(header("one")) + frame(user(0, TOKEN)))
    dsh_lake.scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1, content=False)
    with pytest.raises(LakeError, match="no text in it to be checked"):
        dsh_lake.redact_check(tmp_path / "lake")
