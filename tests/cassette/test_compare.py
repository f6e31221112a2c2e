"""Of two files: the original's difference and texts."""

from __future__ import annotations

import pytest

from dsh_lake.cassette import outputs
from tests.cassette.cases import cases


@pytest.mark.parametrize(("folder", "name", "expected"), cases("diff"))
@pytest.mark.parametrize("way", ["a_b", "b_a"])
def test_difference(folder, name, expected, way, monkeypatch):
    monkeypatch.chdir(folder)
    pair = [f"{name}.{side}.cassette.jsonl" for side in (way[0], way[2])]
    for options, key in [
        ({}, "human"),
        ({"show_calls": True}, "human_calls"),
        ({"as_json": True}, "json"),
        ({"as_json": True, "show_calls": True}, "json"),
    ]:
        got = outputs.diff(*pair, **options)
        want = expected[way][key]
        assert (got.exit, "".join(got.stdout), got.stderr) == (want["exit"], want["stdout"], want["stderr"])
