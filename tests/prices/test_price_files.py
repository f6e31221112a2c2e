"""Files of prices: what they may say, what is refused and where, and when a change of one takes effect."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

import dsh_lake
from demo_lake import DemoLake, make
from dsh_lake import prices
from dsh_lake.errors import BadPrices

HEAD = (
    "model,same_as,valid_from,valid_to,hours_utc,days,days_utc_offset,"
    "currency,cache_read,input,output,price_id"
)


@pytest.fixture
def demo(tmp_path: Path) -> DemoLake:
    """A lake of its own: these tests put files into it."""
    return make(tmp_path)


def test_a_scan_says_that_prices_cannot_be_used(demo: DemoLake) -> None:
    (demo.lake / "prices.csv").write_text(f"{HEAD}\nm,,,,,,,USD,1,x,1,own\n")
    summary = dsh_lake.scan(demo.home, lake=demo.lake)
    (finding,) = [one for one in summary["findings"] if one["code"] == "prices-unusable"]
    assert finding["severity"] == "warn"
    assert finding["path"] == f"{demo.lake / 'prices.csv'}#L2"
    failed = {
        check["name"]: check["advice"] for check in dsh_lake.doctor(demo.lake)["checks"] if check["advice"]
    }
    assert failed["query"] == failed["catalog"] == "mend or remove the file of prices"
    (demo.lake / "prices.csv").unlink()
    summary = dsh_lake.scan(demo.home, lake=demo.lake)
    assert "prices-unusable" not in {one["code"] for one in summary["findings"]}


def test_a_file_of_another_encoding_is_refused(demo: DemoLake) -> None:
    (demo.lake / "prices.csv").write_text(f"{HEAD}\n", encoding="utf-16")
    with pytest.raises(BadPrices, match=r"prices\.csv: the file is no UTF-8 text"):
        prices.of_lake(demo.lake)


def test_the_shipped_names_are_those_of_the_published_prices() -> None:
    names = {price.model for price in prices.shipped()}
    assert names == {
        "deepseek-v4-flash",
        "deepseek-v4-pro",
        "deepseek-flash",
        "deepseek-v4-flash-vision-exp",
        "deepseek-chat",
        "deepseek-reasoner",
    }
    assert all(price.source and not price.is_own for price in prices.shipped())


def test_the_example_of_the_documentation_can_be_used(project_root: Path) -> None:
    page = (project_root / "docs" / "prices.md").read_text("utf-8")
    (example,) = re.findall("```csv\n(.*?)```", page, re.DOTALL)
    shipped = (project_root / "queries" / "prices.csv").read_text("utf-8").partition("\n")[2]
    alone, _, alias = example.strip().rpartition("\n")
    assert len(prices.parse(alone, "docs")) == 3
    with pytest.raises(BadPrices, match="a name without a price row"):
        prices.parse(example, "docs")
    assert alias.split(",")[1] in shipped
    assert all(f"`{column}`" in page for column in prices.COLUMNS)


def test_an_alias_has_the_prices_of_its_name_within_its_own_time() -> None:
    text = f"""{HEAD}
# the price rose in June
a,,,2026-06-01,,,,USD,1,2,3,old
a,,2026-06-01,,,,,USD,4,5,6,new
b,a,2026-05-01,2026-05-02T12:00+02:00,,,,,,,,
c,b,,,,,,,,,,
"""
    found = [price for price in prices.parse(text, "p.csv") if price.model in "bc"]
    assert [(price.model, price.price_id, price.priced_as) for price in found] == [
        ("b", "old", "a"),
        ("c", "old", "a"),
    ]
    assert found[1].valid_from == datetime(2026, 5, 1, tzinfo=UTC)
    assert found[1].valid_to == datetime(2026, 5, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (",,,,,,,USD,1,2,3,", "model is empty"),
        ("a,,,,,,,dollars,1,2,3,", "currency is 'dollars'"),
        ("a,,,,,,,USD,1,,3,", "input is empty"),
        ("a,,,,,,,USD,1,-2,3,", "input is '-2'"),
        ("a,,,,,,,USD,1,nan,3,", "input is 'nan'"),
        ("a,,,,,,,USD,1,1e12,3,", "input is '1e12'"),
        ("a,,,,,,,USD,1,two,3,", "input is 'two'"),
        ("a,,,,,,,USD,1,0.0000000001,3,", "more than 9 decimals"),
        ("a,,yesterday,,,,,USD,1,2,3,", "valid_from is 'yesterday'"),
        ("a,,2026-02-01,2026-01-01,,,,USD,1,2,3,", "valid_to is not after valid_from"),
        ("a,,,,22:00-04:00,,,USD,1,2,3,", "hours_utc has '22:00-04:00'"),
        ("a,,,,01:00-04:00 03:00-05:00,,,USD,1,2,3,", "hours_utc names some hours twice"),
        ("a,,,,,weekend,,USD,1,2,3,", "days has 'weekend'"),
        ("a,,,,,mon,8,USD,1,2,3,", "days_utc_offset is '8'"),
        ("a,,,,,,+08:00,USD,1,2,3,", "there are no days"),
        ("a,b,,,,,,USD,1,2,3,", "cache_read has to be empty"),
        ("a,b,,,,,,,,,,", "same_as is 'b', a name without a price row"),
        ("a,a,,,,,,,,,,", "same_as leads in a circle: a -> a"),
        ("x,,,,,,,USD,1,2,3,", "x has another price at the same time in p.csv#L2"),
        ("y,x,,,,,,,,,,\ny,,,,,,,USD,1,2,3,", "y has another price at the same time in p.csv#L3"),
        ("z,,,,,,,USD,1,2,3,first", "price_id 'first' is that of p.csv#L2"),
        ("a,b", "2 values, where the header names 12 columns"),
        ('a,"b', "this is no CSV"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_line(line: str, reason: str) -> None:
    with pytest.raises(BadPrices) as refused:
        prices.parse(f"{HEAD}\nx,,,,,,,USD,1,2,3,first\n{line}\n", "p.csv")
    last = 2 + len(line.splitlines())
    assert str(refused.value).startswith(f"p.csv#L{last}: ")
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("header", "reason"),
    [("model,prize", "no column is called 'prize'"), ("model,model", "twice"), ("input", "the column model")],
)
def test_a_header_that_cannot_be_used_is_named(header: str, reason: str) -> None:
    with pytest.raises(BadPrices, match=f"^p.csv#L1: .*{reason}"):
        prices.parse(header, "p.csv")


def test_rows_with_hours_may_lie_over_one_without_and_beside_each_other() -> None:
    text = f"""{HEAD}
a,,,,,,,USD,1,2,3,off
a,,,,01:00-02:00,mon-fri,,USD,1,2,3,week
a,,,,01:00-02:00,sat-sun,,USD,1,2,3,end
a,,,,,,,CNY,1,2,3,yuan
"""
    assert [len(price.windows) for price in prices.parse(text, "p.csv")] == [0, 5, 2, 0]


def costs(demo: DemoLake) -> dict[str, float | None]:
    """The cost of each model, in a connection made for it."""
    with dsh_lake.connect(demo.lake) as connection:
        return dict(connection.execute("select model, cost from usage_by_model").fetchall())


def test_own_rows_replace_those_of_their_names_at_the_next_command(demo: DemoLake) -> None:
    before = costs(demo)
    own = demo.lake / "prices.csv"
    own.write_text("model,currency,cache_read,input,output\ndeepseek-v4-pro,USD,0,1000000,0\n")
    after = costs(demo)
    # A dollar for each token of uncached input, of writes to the cache too.
    with dsh_lake.connect(demo.lake) as connection:
        ((tokens,),) = connection.execute(
            "select sum(input_tokens + coalesce(cache_write_tokens, 0)) from billed_usage "
            "where model = 'deepseek-v4-pro'"
        ).fetchall()
        ids = connection.execute(
            "select distinct price_id from usage_cost where model = 'deepseek-v4-pro'"
        ).fetchall()
    assert after == {**before, "deepseek-v4-pro": float(tokens)}
    assert ids == [("prices.csv#L2",)]
    table = dsh_lake.sql("select cost from usage_by_model where model = 'deepseek-v4-pro'", demo.lake)
    assert table.column("cost").to_pylist() == [float(tokens)]
    own.unlink()
    assert costs(demo) == before


def test_prices_may_be_there_before_the_lake(tmp_path: Path, demo: DemoLake) -> None:
    lake = tmp_path / "new"
    lake.mkdir()
    (lake / "prices.csv").write_text("model,currency,cache_read,input,output\ndeepseek-flash,USD,0,0,0\n")
    dsh_lake.scan(demo.home, lake=lake, jobs=1)
    assert costs(demo._replace(lake=lake))["deepseek-flash"] == 0


def test_shipped_aliases_follow_own_rows(demo: DemoLake) -> None:
    (demo.lake / "prices.csv").write_text(
        "model,currency,cache_read,input,output\ndeepseek-flash,USD,0,0,0\n"
    )
    assert {name: cost for name, cost in costs(demo).items() if "flash" in name} == {
        "deepseek-flash": 0.0,
        "deepseek-v4-flash": 0.0,
    }


def test_any_client_sees_the_prices_of_the_last_scan(demo: DemoLake) -> None:
    def seen() -> list[tuple[object, ...]]:
        with duckdb.connect(str(demo.lake / "catalog.duckdb"), read_only=True) as client:
            return client.execute("select model, cost from usage_by_model order by model").fetchall()

    assert dict(seen()) == costs(demo)
    (demo.lake / "prices.csv").write_text(
        "model,currency,cache_read,input,output\ndeepseek-flash,USD,0,0,0\n"
    )
    dsh_lake.scan(demo.home, lake=demo.lake, jobs=1)
    assert dict(seen()) == costs(demo)
    assert costs(demo)["deepseek-flash"] == 0


def test_a_bad_file_is_told_by_what_asks_and_does_not_stop_a_scan(demo: DemoLake) -> None:
    (demo.lake / "prices.csv").write_text("model,currency,cache_read,input,output\nm,USD,1,x,1\n")
    assert dsh_lake.scan(demo.home, lake=demo.lake, jobs=1)["sessions"] == demo.truth["sessions"]
    with pytest.raises(BadPrices, match=r"prices\.csv#L2: input is 'x'"):
        dsh_lake.connect(demo.lake)
    with pytest.raises(BadPrices, match=r"prices\.csv#L2"):
        dsh_lake.sessions(demo.lake)
