"""A scan of which more could be told than anybody reads tells how much there is of what, in little memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsh_lake import summary
from dsh_lake.connection import connect
from dsh_lake.scan import scan
from tests import logs


@pytest.mark.parametrize("most", [4, 5])
def test_too_many_findings_are_told_by_code_and_file(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "MOST_FINDINGS", most)
    for name, bad in (("a", b"[]\n" * 3 + b"{\n"), ("b", b"[]\n")):
        logs.log_path(tmp_path / "home", name).write_bytes(logs.frame(logs.header(name), bad))
    found = scan(tmp_path / "home", lake=tmp_path / "lake", jobs=1)["findings"]
    places = [(finding["code"], Path(finding["path"]).parent.name, finding["position"]) for finding in found]
    if most == 5:
        assert len(places) == 5
        return
    assert places == [
        ("not-an-event", "a", "line 2"),
        ("malformed-json", "a", "line 5"),
        ("not-an-event", "b", "line 2"),
    ]
    assert [finding["message"].count("3 such findings") for finding in found] == [1, 0, 0]
    with connect(tmp_path / "lake") as connection:
        assert connection.sql("select count(*) from findings").fetchall() == [(5,)]


def test_a_cassette_of_nothing_but_faults_is_told_in_little_memory(tmp_path: Path) -> None:
    lines = 400_000
    (tmp_path / "x.cassette.jsonl").write_bytes(b"{}\n" * lines)
    scan(tmp_path / "x.cassette.jsonl", lake=tmp_path / "lake", jobs=1)
    with connect(tmp_path / "lake") as connection:
        connection.execute("set memory_limit = '25MB'")
        rows = connection.sql("from findings").to_arrow_reader(65_536)
        assert sum(batch.num_rows for batch in rows) == lines
