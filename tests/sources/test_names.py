"""The grammar of a log's file name, against a parser written from the specification without patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake.sources import discover, log_name


def spelled_out(name: str) -> tuple[int, str] | None:
    """`session`, nothing or `.v` and a decimal from 1 without leading zero, `.jsonl`, `.zstd` or nothing."""
    encoding = "plain"
    if name[-5:] == ".zstd":
        name, encoding = name[:-5], "zstd"
    if name[-6:] != ".jsonl":
        return None
    stem = name[:-6]
    if stem == "session":
        return 0, encoding
    if stem[:9] != "session.v":
        return None
    digits = stem[9:]
    if not digits or any(digit not in "0123456789" for digit in digits) or digits[0] == "0":
        return None
    return sum(ord(digit) % 48 * 10**power for power, digit in enumerate(reversed(digits))), encoding


PIECES = ["session", "Session", ".v", ".V", "v", ".", "0", "1", "4", "10", "-5", "٣", "²", ".jsonl", ".JSONL"]
PIECES += [".zstd", ".zst", ".tmp", ".bak", "~", " ", "\n", ".partial", ".migration.x"]
assembled = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)
versions = st.from_regex(r"[0-9]{1,25}", fullmatch=True)
versioned = st.builds("session.v{}.jsonl{}".format, versions, st.sampled_from(["", ".zstd", ".zst", "\n"]))


@given(assembled | versioned | st.text(max_size=30))
def test_a_name_is_a_logs_exactly_by_the_grammar(name: str) -> None:
    assert log_name(name) == spelled_out(name)


@given(generation=st.integers(0, 10**30), suffix=st.sampled_from(["", ".zstd"]))
def test_every_generation_has_a_name(generation: int, suffix: str) -> None:
    name = f"session{f'.v{generation}' if generation else ''}.jsonl{suffix}"
    assert log_name(name) == (generation, "zstd" if suffix else "plain")


@pytest.mark.parametrize(
    "name",
    [
        "session.v0.jsonl",
        "session.v04.jsonl.zstd",
        "session.V5.jsonl",
        "Session.v4.jsonl.zstd",
        "session.v4.jsonl.zstd.tmp",
        "session.v4.jsonl.bak",
        "session.migration.1f2e.jsonl.zstd.tmp",
        "session.1.jsonl",
        "session.lock",
        "session.jsonl\n",
        "mysession.v9.jsonl.zstd",
    ],
)
def test_look_alikes_are_not_found(name: str, tmp_path: object) -> None:
    assert log_name(name) is None
    folder = f"{tmp_path}"
    for other in (name, "session.v2.jsonl"):
        with open(f"{folder}/{other}", "wb"):
            pass
    assert [(source.generation, source.is_superseded) for source in discover([folder]).files] == [(2, False)]
