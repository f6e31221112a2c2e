"""A lake to be shared: nothing of what was written in it is left, and all of its numbers are."""

from __future__ import annotations

import hashlib
import math
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dsh_lake
from corpus import THOROUGH
from dsh_lake.errors import SchemaError
from dsh_lake.schemas import STORED, TABLES
from dsh_lake.treatments import Treatment, treated_columns, treatments
from export.planted import MARK, everything, write_planted

# -- the declarations --------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
def test_every_column_has_one_treatment(table: str) -> None:
    columns = {column.name for column in (*TABLES[table].columns, *TABLES[table].stored)}
    assert set(treatments(table)) == columns


def test_a_column_without_treatment_ends_the_export(monkeypatch: pytest.MonkeyPatch) -> None:
    treatments.cache_clear()
    rejects = TABLES["rejects"]
    more = type(rejects)(
        rejects.name,
        rejects.doc,
        rejects.grain,
        rejects.key,
        rejects.columns,
        (*rejects.stored, TABLES["scans"].stored[0]),
    )
    monkeypatch.setitem(TABLES, "rejects", more)
    with pytest.raises(SchemaError, match="no treatment of scan_id"):
        treatments("rejects")
    treatments.cache_clear()


@pytest.mark.parametrize("table", [name for name in STORED if name != "scans"])
def test_no_column_of_text_is_kept_that_may_hold_more_than_a_word_of_ours(table: str) -> None:
    """Texts stay as they are only where this package chooses them from a list of its own."""
    ours = {"kind", "encoding", "state", "status"}
    kept = {
        column.name
        for column in STORED[table].stored
        if column.type in ("text", "json", "text[]", "json[]")
        and treatments(table)[column.name] is Treatment.KEEP
    }
    assert kept <= ours
    assert treated_columns(table).count(" as ") >= len(STORED[table].stored)


# -- nothing is left ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A lake of archives with marked texts, and what was exported of it."""
    return _exported(tmp_path_factory.mktemp("planted"), words=False)


@pytest.fixture(scope="module")
def planted_words(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same, with marks in words of the producer too."""
    return _exported(tmp_path_factory.mktemp("words"), words=True)


def _exported(folder: Path, *, words: bool) -> tuple[Path, Path]:
    home = write_planted(folder, words=words)
    lake, shared = folder / "lake", folder / "shared"
    dsh_lake.scan([home, home / f"{MARK} cassettes"], lake=lake, jobs=1)
    header = "model,currency,cache_read,input,output,price_id,source,remark"
    own_price = f"deepseek-v4-pro,USD,1,2,3,{MARK} one,{MARK},{MARK}"
    (lake / "prices.csv").write_text(f"{header}\n# {MARK}\n{own_price}\n")
    dsh_lake.export(None, shared, lake=lake, metadata_only=True)
    return lake, shared


def test_the_marks_are_all_over_the_lake_that_was_exported(planted: tuple[Path, Path]) -> None:
    """Else their absence from the other would say nothing."""
    lake, _ = planted
    columns = {
        (path.parent.name, name)
        for path in lake.rglob("*.parquet")
        for name, values in pq.ParquetFile(path).read().to_pydict().items()
        if MARK in str(values)
    }
    expected = {
        *(
            ("sources", name)
            for name in ("root", "path", "cwd", "workspace", "session_id", "parent_session_id")
        ),
        *(("sources", name) for name in ("title", "notes", "resume", "agent_preset")),
        *(("events", name) for name in ("type", "data", "packed_prefix")),
        *(("tool_calls", name) for name in ("arguments", "call_id")),
        ("messages", "message_id"),
        ("tool_results", "call_id"),
        ("event_facts", "subject_id"),
        ("scans", "counts"),
        *(("interactions", name) for name in ("label", "call_key", "parent_key")),
        ("interactions", "started_at"),
    }
    assert sorted(expected - columns) == []


@pytest.mark.parametrize("kind", ["planted", "planted_words"])
def test_no_mark_is_left_in_any_byte_of_the_shared_lake(kind: str, request: pytest.FixtureRequest) -> None:
    _, shared = request.getfixturevalue(kind)
    found = {path.relative_to(shared) for path, content in everything(shared) if MARK.encode() in content}
    assert found == set()


def test_ids_cannot_be_found_by_hashing_guesses(planted: tuple[Path, Path]) -> None:
    lake, shared = planted
    ids = dsh_lake.sql("select session_id from sessions union all select path from sources", lake)
    plain = [
        hashlib.sha256(text.encode()).hexdigest()[:16].encode()
        for (text,) in zip(*ids.to_pydict().values(), strict=True)
        if text
    ]
    assert len(plain) > 20
    every = b"".join(content for _, content in everything(shared))
    assert [digest for digest in plain if digest in every] == []


def test_two_exports_have_other_digests(planted: tuple[Path, Path], tmp_path: Path) -> None:
    lake, shared = planted
    dsh_lake.export(None, tmp_path / "again", lake=lake, metadata_only=True)
    query = "select session_id from sessions"
    first, second = (
        set(dsh_lake.sql(query, one)["session_id"].to_pylist()) for one in (shared, tmp_path / "again")
    )
    assert len(first) == len(second)
    assert first.isdisjoint(second)


def test_only_the_owner_can_read_it(planted: tuple[Path, Path]) -> None:
    _, shared = planted
    modes = {stat.S_IMODE(os.stat(path).st_mode) & 0o077 for path in (shared, *shared.rglob("*"))}
    assert modes == {0}


# -- the numbers are all there -----------------------------------------------------------------------------


CONTENT = {
    "scans": ("has_content",),
    "subagent_runs": ("prompt", "output"),
    "prices": ("source", "remark"),
}
"""Columns that are about content, or hold it and are left out."""


def numbers(connection: Any, name: str) -> list[tuple[Any, ...]]:
    """The rows of a view in a stable order; of what is no number, flag or time only whether it is there, and
    floats to nine digits."""
    rows = connection.sql(f'from "{name}"').to_arrow_table()
    columns = [
        [value is not None for value in rows[column].to_pylist()]
        if _is_text(rows[column].type)
        else map(_rounded, rows[column].to_pylist())
        for column in rows.column_names
        if column not in CONTENT.get(name, ())
    ]
    return sorted(zip(*columns, strict=True), key=repr)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_nested(kind)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.9g}")
    return value


VIEWS = sorted(one["name"] for one in dsh_lake.views() if one["kind"] != "internal")
TRIED = VIEWS if THOROUGH else VIEWS[::5]


def test_every_view_has_the_same_numbers(planted: tuple[Path, Path]) -> None:
    with dsh_lake.connect(planted[0]) as lake, dsh_lake.connect(planted[1]) as shared:
        different = [name for name in TRIED if numbers(lake, name) != numbers(shared, name)]
    assert different == []
