"""Laws that hold for every cassette, tried on generated ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_lake.canonical import canonical_text, parse_json
from dsh_lake.cassette import ambiguous_groups, compare_files, find_faults, load, summarise
from dsh_lake.cassette.outputs import diff
from dsh_lake.records.cassette_facts import storable, unstored
from tests.cassette.made import bodies, calls, units, write

# Every example writes and syncs files: fewer than usual are enough.
few = settings(max_examples=40)

described = st.lists(calls, max_size=5)
storages = st.sampled_from(["metadata", "full"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all examples: each overwrites the files of the last."""
    return tmp_path_factory.mktemp("laws")


@few
@given(described, storages)
def test_what_the_writer_wrote_verifies(folder, described, storage):
    interactions = list(bodies(described, storage))
    path = write(folder / "x.cassette.jsonl", interactions, storage)
    assert find_faults(path) == []
    cassette = load(path)
    for body, record, facts in zip(interactions, cassette.records, cassette.interactions, strict=True):
        assert canonical_text({**record, **body}) == canonical_text(record)
        assert facts.sequence == body["sequence"] and facts.is_local == body["local"]


def places(value, path=()):
    """The paths of all scalars in a record."""
    if isinstance(value, (dict, list)):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        return [place for name, member in members for place in places(member, (*path, name))]
    return [path]


def changed(value):
    """Another value in its place; of a type that may stand there, so that only the hash can tell."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return 7 if value != 7 else 8
    return f"{value}'"


@few
@given(st.lists(calls, min_size=1, max_size=3), storages, st.data())
def test_any_change_of_a_value_is_found(folder, described, storage, data):
    path = write(folder / "x.cassette.jsonl", bodies(described, storage), storage)
    lines = path.read_bytes().split(b"\n")
    number = data.draw(st.integers(0, len(lines) - 2))
    record = parse_json(lines[number].decode())
    *parents, name = data.draw(st.sampled_from(places(record)))
    holder = record
    for parent in parents:
        holder = holder[parent]
    holder[name] = changed(holder[name])
    lines[number] = canonical_text(record).encode()
    path.write_bytes(b"\n".join(lines))
    assert find_faults(path)


@few
@given(st.lists(calls, min_size=1, max_size=4), st.sampled_from(["", "\ufeff", " \t", "\u2028", "\x0b\f"]))
def test_any_spelling_of_the_same_values_verifies(folder, described, blank):
    path = write(folder / "x.cassette.jsonl", bodies(described))
    records = [parse_json(line) for line in path.read_bytes().decode().removesuffix("\n").split("\n")]
    spelled = [json.dumps(dict(reversed(record.items()))) for record in records]
    path.write_bytes((blank + "\n" + "\r\n".join(spelled)).encode())
    assert find_faults(path) == []


@few
@given(described, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter_to_a_comparison(folder, described, random):
    interactions = list(bodies(described))
    before = write(folder / "a.cassette.jsonl", interactions)
    random.shuffle(interactions)
    after = write(folder / "b.cassette.jsonl", interactions)
    assert find_faults(after) == []
    comparison = compare_files(before, after)
    assert comparison.expected.calls == comparison.actual.calls
    assert comparison.added == comparison.removed == comparison.outcome_changed() == []
    assert summarise(before, with_calls=True).calls == summarise(after, with_calls=True).calls


@few
@given(described)
def test_a_cassette_equals_itself_unless_it_is_ambiguous(folder, described):
    path = write(folder / "x.cassette.jsonl", bodies(described))
    comparison = compare_files(path, path)
    is_ambiguous = bool(ambiguous_groups(load(path).interactions))
    assert comparison.is_equivalent is comparison.is_comparable is not is_ambiguous
    assert diff(str(path), str(path)).exit == (2 if is_ambiguous else 0)


@few
@given(described, described)
def test_a_difference_is_the_other_way_round_backwards(folder, left, right):
    a = write(folder / "a.cassette.jsonl", bodies(left))
    b = write(folder / "b.cassette.jsonl", bodies(right))
    there, back = compare_files(a, b), compare_files(b, a)
    assert there.added == back.removed and there.removed == back.added
    assert there.pairs == [(old, new) for new, old in back.pairs]
    assert len(there.pairs) + len(there.removed) == len(left)


@few
@given(st.lists(calls, min_size=1, max_size=5), st.integers(0, 4))
def test_a_valid_suffix_can_be_removed_unnoticed(folder, described, kept):
    path = write(folder / "x.cassette.jsonl", bodies(described))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: 1 + kept]))
    assert find_faults(path) == []


@given(units, units)
def test_different_texts_stay_different_in_a_table(left, right):
    storable(left).encode()
    if not any(0x10D800 <= ord(c) <= 0x10DFFF for c in left + right):
        assert unstored(storable(left)) == left
        assert (storable(left) == storable(right)) == (left == right)
