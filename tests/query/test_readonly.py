"""No query writes anything or reads anything but the lake; every harmless kind of query works."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import dsh_lake
from demo_lake import DemoLake
from dsh_lake import readonly
from dsh_lake.errors import DshLakeError, QueryFailed, UsageError
from dsh_lake.readonly import read_rows

LAKE, OUTSIDE = "{lake}", "{outside}"
WRITES_BY_COPY = "with x as (copy (select 1) to '{file}') from x"


def _nested(query: str) -> str:
    """The text of a query inside a text inside a query."""
    return query.replace("'", "''")


COPIES = [
    "copy (select 1) to '{file}'",
    "copy (select 1) to '{file}' (format parquet, use_tmp_file false)",
    "copy (pivot events on type using count(*)) to '{file}'",
    WRITES_BY_COPY,
    "with x as (copy (pivot events on type using count(*)) to '{file}') from x",
    "explain analyze copy (select 1) to '{file}'",
    f"explain analyze {WRITES_BY_COPY}",
    f"describe {WRITES_BY_COPY}",
    f"summarize {WRITES_BY_COPY}",
    f"from ({WRITES_BY_COPY})",
    f"select ({WRITES_BY_COPY})",
    f"select count(*) from events where line in ({WRITES_BY_COPY})",
    "from query('{query}')",
    "from \"Query\" /* a comment */ ( '{query}')",
    "from system.main.query('{query}')",
    "from json_execute_serialized_sql(json_serialize_sql('{query}'))",
    "from query('from json_execute_serialized_sql(json_serialize_sql(''{twice}''))')",
    "select 1) ; copy (select 1) to '{file}' --",
    "select 1; copy (select 1) to '{file}'",
    "/* ; */ copy (select 1) to '{file}'",
]
WRITES = [
    f"export database '{OUTSIDE}/made'",
    f"attach '{OUTSIDE}/made.db' as made",
    f"attach '{LAKE}/tables/made.db' as made",
    "attach ':memory:' as made",
    "install httpfs",
    "load json",
    "create table made as select 1",
    "create temp table made as select 1",
    "create view made as select 1",
    "create or replace view sessions as select 1",
    "create macro made() as 1",
    "create secret made (type http)",
    "insert into stored.events select * from stored.events",
    "with x as (insert into stored.events select * from stored.events returning *) from x",
    "with x as (delete from stored.sources returning *) from x",
    "update stored.sources set path = ''",
    "delete from stored.sources",
    "merge into stored.sources using sources on true when matched then delete",
    "drop view sessions",
    "alter view sessions rename to made",
    "comment on view sessions is 'made'",
    "truncate stored.sources",
    f"import database '{OUTSIDE}'",
    "set memory_limit = '1GB'",
    "set enable_external_access = true",
    "reset memory_limit",
    "set variable only_sources = [1]",
    "use memory",
    "pragma threads = 1",
    "pragma database_size",
    "call pragma_version()",
    "checkpoint",
    "vacuum",
    "begin",
    "prepare p as select 1",
    "execute p",
    f"from enable_logging(storage = 'file', storage_path = '{OUTSIDE}/made')",
    f"from enable_profiling(save_location = '{OUTSIDE}/made')",
    "from force_checkpoint()",
    "select 1; select 2",
    "",
    " ; ",
    "-- nothing but a comment",
    "explain",
]
READS = [
    "from read_csv('{secret}')",
    "from read_text('{secret}')",
    "from read_blob('{secret}')",
    "from read_json('{secret}')",
    "from read_parquet('{secret}')",
    "from sniff_csv('{secret}')",
    "from '{secret}'",
    "from parquet_metadata('{secret}')",
    "from glob('{outside}/*')",
    "from glob('{lake}/tables/../../*')",
    "select * from read_text('{lake}/tables/../lock')",
    "from read_text('{lake}/tables/scans/_delta_log/00000000000000000000.json')",
    "from read_duckdb('{lake}/catalog.duckdb')",
    "from duckdb_secrets()",
    "from which_secret('x', 'http')",
    "select content from (from read_text('{secret}'))",
    "from query_table('{secret}')",
]
HARMLESS = {
    "select count(*) as n from sessions": 1,
    "from usage_by_day limit 1": 1,
    "values (1), (2)": 2,
    "table usage_by_kind limit 0": 0,
    "with x as (select 1) from x": 1,
    "with recursive x(n) as (select 1 union all select n + 1 from x where n < 5) from x": 5,
    "(select 1)": 1,
    "select 1 union all select 2": 2,
    "describe sessions": 16,
    "describe select 1": 1,
    "show tables": None,
    "show all tables": None,
    "summarize select 1 as a": 1,
    "explain from sessions": 1,
    "explain analyze select count(*) from events": 1,
    "EXPLAIN /* why */ ANALYZE select 1;": 1,
    "pivot (select 'a' as k union all select 'b') on k using count(*)": 1,
    "pivot (select 'a' as k) on k in ('a', 'b') using count(*)": 1,
    "with p as (pivot (select 'a' as k) on k using count(*)) from p": 1,
    "unpivot (select 1 as a, 2 as b) on a, b": 2,
    "from range(3)": 3,
    "select unnest([1, 2])": 2,
    "from json_each('[1, 2]')": 2,
    "from duckdb_views() limit 1": 1,
    "from pragma_table_info('sessions')": 16,
    "select 1;": 1,
    "select 1; -- done": 1,
    "select 1 ; ;\n": 1,
    "select/**/1 as a -- a comment": 1,
    "select 'copy (select 1); query(x)' as text": 1,
    "select query from (select 1 as query)": 1,
    'select max("at") from events': 1,
    "select t.at from events as t limit 1": 1,
    "select 'é中😀', count(*) from sessions": 1,
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is not the lake's, with a secret in it."""
    (tmp_path / "secret.csv").write_text("secret\n1\n")
    return tmp_path


@pytest.fixture
def unchanged(demo: DemoLake, outside: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails the test if a file of the lake or of the working folder was changed, made or removed."""
    monkeypatch.chdir(outside)
    before = _contents(demo.lake), _contents(outside)
    yield
    assert (_contents(demo.lake), _contents(outside)) == before


def _contents(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("template", COPIES)
def test_no_way_of_copying_rows_to_a_file_works(template: str, demo: DemoLake, outside: Path) -> None:
    part = next((demo.lake / "tables").rglob("*.parquet"))
    for file in (outside / "made.csv", demo.lake / "tables" / "made.parquet", demo.lake / "made.csv", part):
        written = WRITES_BY_COPY.format(file=file)
        query = template.format(file=file, query=_nested(written), twice=_nested(_nested(written)))
        with pytest.raises(DshLakeError):
            dsh_lake.sql(query, demo.lake)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("template", WRITES)
def test_statements_that_do_more_than_read_are_refused(template: str, demo: DemoLake, outside: Path) -> None:
    with pytest.raises(DshLakeError):
        dsh_lake.sql(template.format(lake=demo.lake, outside=outside), demo.lake)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("template", READS)
def test_no_other_file_can_be_read(template: str, demo: DemoLake, outside: Path) -> None:
    query = template.format(lake=demo.lake, outside=outside, secret=outside / "secret.csv")
    with pytest.raises(DshLakeError):
        dsh_lake.sql(query, demo.lake)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(("query", "rows"), HARMLESS.items())
def test_queries_that_read_are_answered(query: str, rows: int | None, demo: DemoLake) -> None:
    answer = dsh_lake.sql(query, demo.lake)
    assert answer.num_rows == rows if rows is not None else answer.num_rows > 10


@pytest.mark.usefixtures("unchanged")
def test_variables_of_the_program_are_no_tables(demo: DemoLake) -> None:
    treasure = pa.table({"a": [1]})
    with pytest.raises(QueryFailed, match="treasure"):
        dsh_lake.sql("from treasure", demo.lake)
    assert treasure.num_rows == 1


@pytest.mark.usefixtures("unchanged")
def test_the_order_of_a_query_is_kept(demo: DemoLake) -> None:
    query = "select i from range(50000) t(i) order by hash(i)"
    expected = dsh_lake.connect(demo.lake).sql(query).fetchall()
    assert [(i,) for i in dsh_lake.sql(query, demo.lake)["i"].to_pylist()] == expected


def _confined(query: str, lake: Path) -> int:
    with read_rows(query, lake) as rows:
        return sum(batch.num_rows for batch in rows)


def _connected(query: str, lake: Path) -> int:
    with dsh_lake.connect(lake) as connection:
        connection.execute("set memory_limit = '100MB'")
        return sum(batch.num_rows for batch in connection.sql(query).to_arrow_reader(65_536))


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("count", [_confined, _connected])
def test_what_does_not_fit_into_memory_is_spilled_outside_of_the_lake(
    demo: DemoLake, outside: Path, count: Callable[[str, Path], int]
) -> None:
    seen: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            seen.update(str(path) for path in [*demo.lake.rglob("*"), *outside.rglob("*")])

    before = {str(path) for path in [*demo.lake.rglob("*"), *outside.rglob("*")]}
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        query = "select i, repeat(i::text, 9) as t from range(5000000) r(i) order by hash(i)"
        assert count(query, demo.lake) == 5_000_000
    finally:
        done.set()
        watcher.join()
    assert seen <= before


def test_an_open_connection_of_the_same_process_is_not_confined(demo: DemoLake, outside: Path) -> None:
    connection = dsh_lake.connect(demo.lake)
    assert dsh_lake.sql("select 1", demo.lake).num_rows == 1
    connection.execute("set threads = 1")
    assert connection.sql(f"from read_csv('{outside / 'secret.csv'}')").fetchall() == [(1,)]


ENDLESS = "select count(*) from range(100000000000) t(i) where hash(i) % 7 = 1"


def test_an_interrupt_ends_a_query_at_once(demo: DemoLake) -> None:
    before = time.monotonic()
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        dsh_lake.sql(ENDLESS, demo.lake)
    assert time.monotonic() - before < 5


def test_also_where_signals_end_no_wait(demo: DemoLake) -> None:
    """As polars leaves them."""
    handler = signal.getsignal(signal.SIGINT)
    signal.siginterrupt(signal.SIGINT, False)
    try:
        test_an_interrupt_ends_a_query_at_once(demo)
    finally:
        signal.signal(signal.SIGINT, handler)


def test_so_does_one_that_comes_before_the_engine_runs_it(demo: DemoLake) -> None:
    def planned_for_long() -> None:
        time.sleep(0.7)
        connection.execute(ENDLESS)

    before = time.monotonic()
    with dsh_lake.connect(demo.lake) as connection, ThreadPoolExecutor(1) as thread:
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            readonly._interruptible(connection, thread, planned_for_long)
    assert time.monotonic() - before < 5


def test_a_mistake_is_shown_on_the_line_it_is_on(demo: DemoLake) -> None:
    with pytest.raises(QueryFailed, match=r"\nLINE 2:  type::int\n"):
        dsh_lake.sql("select line,\n type::int\nfrom events", demo.lake)


def test_what_fails_while_rows_are_read_is_a_failed_query(demo: DemoLake) -> None:
    query = "select case when i = 90000 then error('too late') else i end from range(100000) t(i)"
    with pytest.raises(QueryFailed, match="too late"), read_rows(query, demo.lake) as rows:
        for _ in rows:
            pass


@pytest.mark.parametrize(
    "query",
    [
        "select at from events",
        "from events select at",
        "select max(at) from events",
        "from events order by AT",
        "select line, at, seq from events",
    ],
)
def test_the_reserved_word_at_is_explained(query: str, demo: DemoLake) -> None:
    with pytest.raises(QueryFailed, match=r'hint: at is a reserved word.*"at"'):
        dsh_lake.sql(query, demo.lake)


@pytest.mark.parametrize(
    "query", ["selec 1", "select at time zone 'UTC' frm events", "select t.at frm t x y"]
)
def test_other_mistakes_get_no_such_hint(query: str, demo: DemoLake) -> None:
    with pytest.raises(QueryFailed) as raised:
        dsh_lake.sql(query, demo.lake)
    assert "hint" not in str(raised.value)


@pytest.mark.parametrize("operation", ["data ->> '$.a'", "data::json", "json_keys(data)"])
def test_half_a_character_in_json_is_explained_and_read_by_a_macro(operation: str, demo: DemoLake) -> None:
    rows = """(select '{"a":"secret \\ud83d"}' as data)"""
    with pytest.raises(QueryFailed, match=r"hint: .* parsable\(data\) in place of data") as raised:
        dsh_lake.sql(f"select {operation} as a from {rows}", demo.lake)
    assert "secret" not in str(raised.value)
    read = operation.replace("data", "parsable(data)")
    assert dsh_lake.sql(f"select {read} as a from {rows}", demo.lake).num_rows == 1


def test_other_json_that_does_not_parse_is_told_without_its_text(demo: DemoLake) -> None:
    with pytest.raises(QueryFailed, match="Malformed JSON at byte") as raised:
        dsh_lake.sql("select data ->> '$.a' from (select '{secret' as data)", demo.lake)
    assert "secret" not in str(raised.value)
    assert "hint" not in str(raised.value)


def test_refusals_say_why(demo: DemoLake) -> None:
    for query, reason in {
        "drop view sessions": "only statements that read",
        "select 1; select 2": "one query at a time",
        "-- nothing": "there is no query",
        "from read_csv('x')": "read_csv is not available",
    }.items():
        with pytest.raises(UsageError, match=reason):
            dsh_lake.sql(query, demo.lake)
