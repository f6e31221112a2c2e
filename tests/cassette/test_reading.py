"""From bytes to lines: what counts as a line, and that every way of reading gives the same."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_lake.canonical import canonical_text, parse_json
from dsh_lake.cassette import find_faults, outputs
from dsh_lake.errors import CanonicalError, DuplicateMember
from dsh_lake.records.cassette import check_record, read_cassette, read_record
from dsh_lake.records.cassette_checks import Faults
from dsh_lake.records.cassette_facts import CHECK_RANKS
from dsh_lake.records.cassette_shape import usual_interaction
from dsh_lake.records.cassette_text import exact_encode, parse_record
from tests.cassette.cases import HANDED, ROOTS
from tests.cassette.made import bodies, calls, write


def test_lines_are_counted_without_blank_ones():
    text = b"\xef\xbb\xbf\r\n[1]\n\n \t\x0b\xe2\x80\xa9\n\xc2\x85\n{}\r\r\n2"
    lines = [
        (line.line, line.physical_line, line.offset, line.octets) for line in read_cassette(io.BytesIO(text))
    ]
    assert lines == [
        (1, 2, 5, b"[1]"),
        (2, 5, 17, b"\xc2\x85"),
        (3, 6, 20, b"{}\r"),
        (4, 7, 25, b"2"),
    ]


@pytest.mark.parametrize("longest_bytes", [8, 9, 10])
def test_a_line_longer_than_may_be_is_passed_over(longest_bytes):
    text = b"[1]\n" + b"[1234567]\n" + b"[2]\r\n" + b"[1234567]"
    lines = list(read_cassette(io.BytesIO(text), longest_bytes=longest_bytes))
    assert [(line.line, line.physical_line, line.offset) for line in lines] == [
        (1, 1, 0),
        (2, 2, 4),
        (3, 3, 14),
        (4, 4, 19),
    ]
    codes = {line.line: [fault.code for fault in line.faults] for line in lines}
    too_long = [2, 4] if longest_bytes < 9 else []
    assert [line for line in codes if "line-too-long" in codes[line]] == too_long
    assert [line.line for line in lines if not line.octets] == too_long


def exactly(octets, number):
    """A line read without any shortcut."""
    faults = Faults(number)
    record, _ = parse_record(octets)
    return check_record(record, faults, exact_encode), faults.found


@settings(max_examples=40)
@given(st.lists(calls, min_size=1, max_size=3), st.sampled_from(["metadata", "full"]))
def test_shortcuts_give_what_the_exact_way_gives(tmp_path_factory, described, storage):
    path = write(tmp_path_factory.mktemp("x") / "x.cassette.jsonl", bodies(described, storage), storage)
    for line in read_cassette(io.BytesIO(path.read_bytes())):
        assert (line.facts, line.faults) == exactly(line.octets, line.line)


def every_line():
    for root in ROOTS.values():
        for path in sorted(root.glob("*/*.cassette.jsonl")):
            with path.open("rb") as file:
                yield from read_cassette(file)


def test_usual_lines_of_the_corpus_are_read_as_the_exact_way_reads_them():
    usual = 0
    for line in every_line():
        if line.line == 1:
            continue  # read as a header, whatever it looks like
        facts = usual_interaction(line.octets, line.line)
        if facts is not None:
            usual += 1
            expected, faults = exactly(line.octets, line.line)
            assert facts == expected
            assert [fault.code for fault in faults] in ([], ["hash-mismatch"])
    assert usual > 50  # the shortcut is taken at all


def resealed(line, old, new):
    """``line`` with a text replaced and the hash taken over just that text, canonical or not."""
    text = line.replace(old, new)
    assert text != line
    stated = json.loads(text)["hash"]
    member = f',"hash":"{stated}"'
    digest = "sha256:" + hashlib.sha256(text.replace(member, "").encode()).hexdigest()
    return text.replace(stated, digest).encode()


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"startLatencyMs":1.5', '"startLatencyMs":1.0', "hash-mismatch"),
        ('"startLatencyMs":1.5', '"startLatencyMs":1.50', "hash-mismatch"),
        ('"startLatencyMs":1.5', '"startLatencyMs":1e-05', "hash-mismatch"),
        ('"startLatencyMs":1.5', '"startLatencyMs":0.0', "hash-mismatch"),
        ('"startLatencyMs":1.5', '"startLatencyMs":-0', "not-lossless"),
        ('"durationMs":1.625', '"durationMs":1e+16', "hash-mismatch"),
        ('"durationMs":1.625', '"durationMs":1.25', "bad-field"),
        ('"published":true', '"published": true', "hash-mismatch"),
        ('"published":true', '"published":false', "bad-publication"),
        ('"local":false', '"local":false,"local":false', "duplicate-member"),
        ('"callKey":"', '"callKey":"\\u0041', "hash-mismatch"),
        ('"promptBlocks":0', '"promptBlocks":9007199254740993', "bad-field"),
        ('"parentContextFingerprint":"sha256:07', '"parentContextFingerprint":"sha256:A7', "bad-field"),
        ('"parentContextFingerprint":"sha256:07', '"parentContextFingerprint":"sha256:  ', "bad-field"),
    ],
)
def test_a_hash_over_a_text_that_is_wrong_does_not_help(tmp_path, old, new, code):
    outcome = {"kind": "result", "redactions": 0, "result": RESULT}
    path = write(tmp_path / "x.cassette.jsonl", bodies([({"prompt": []}, outcome, "root")]))
    line = path.read_text().splitlines()[1]
    assert read_record(line.encode(), 2)[1] == []
    assert code in [fault.code for fault in read_record(resealed(line, old, new), 2)[1]]


RESULT = {"output": [], "stopReason": "completed"}


@pytest.mark.parametrize(
    ("text", "is_canonical"),
    [
        ('{"a":9007199254740992}', True),
        ('{"a":9007199254740993}', False),
        ('{"a":[-12345678901234567890]}', False),
        ('{"a":"1234567890123456"}', True),
        ('{"a":0.000001}', True),
        ('{"a":1e+21}', True),
        ('{"a":1.0}', False),
        ('{"a":-0}', False),
        ('{"\U0001f600":1,"\ue000":2}', True),
        ('{"\ue000":1,"\U0001f600":2}', False),
        ('{"a":"\U0001f600"}', True),
        ('{"a\\"\U0001f600\\"b":1,"a\\"\ue000":2}', True),
        ('{"a":"\\ud800"}', True),
        ('{"a":1,"a":1}', False),
        ('{"b":1,"a":1}', False),
        ("9007199254740993", False),
    ],
)
def test_a_line_gets_an_encoder_that_is_right_for_it(text, is_canonical):
    """Both readers agree, and what the line's own encoder writes is the canonical text."""
    try:
        record, encode = parse_record(text.encode())
        written = encode(record)
    except (DuplicateMember, CanonicalError):
        assert not is_canonical
        return
    assert written == canonical_text(parse_json(text)).encode()
    assert (written == text.encode()) is is_canonical


LINE = {"kind": "cassette/interaction"}


def test_all_faults_of_a_line_are_given_in_the_order_of_the_checks():
    octets = json.dumps({**LINE, "note": 1, "2": 1, "1": 1, "timing": {}, "hash": "x"}).encode()
    facts, faults = read_record(octets, 3)
    assert [fault.message.removeprefix("line 3") for fault in faults[:4]] == [
        ".1 is not supported",
        ".2 is not supported",
        ".note is not supported",
        ".sequence must be a positive safe integer",
    ]
    checks = [fault.rank // CHECK_RANKS for fault in faults]
    assert checks == sorted(checks) and {2, 3, 4, 5, 6, 7, 11} <= set(checks)
    assert facts.stated_sha256 is None and facts.computed_sha256 is not None


def test_faults_across_lines_stand_beside_those_of_lines(tmp_path):
    one, two, three = bodies(
        [({"prompt": []}, {"kind": "result", "redactions": 0, "result": RESULT}, "root")] * 3
    )
    two |= {"sequence": 1, "callKey": one["callKey"], "occurrence": 1}
    three |= {"sequence": 9}
    path = write(tmp_path / "x.cassette.jsonl", [one, two, three])
    codes = [(fault.line, fault.code) for fault in find_faults(path)]
    assert codes == [(3, "duplicate-sequence"), (3, "duplicate-call-key"), (3, "duplicate-occurrence")]
    path = write(tmp_path / "x.cassette.jsonl", [one, three])
    codes = [(fault.line, fault.code) for fault in find_faults(path)]
    assert codes == [(4, "missing-sequence"), (4, "missing-occurrence")]


# --- files that are made when needed -------------------------------------------------------------


LARGE = ("m1000", "m1000d", "deep20000", "deep20000f")


def large_runs():
    path = HANDED / "large_expected.json"
    expected = json.loads(path.read_text()) if path.is_file() else {}
    names = tuple(f"{name}." for name in LARGE)
    runs = [run for name, case in expected.items() if name.startswith(names) for run in case["runs"]]
    # Deep files differ from others in reading alone.
    runs = [run for run in runs if run["args"][0] == "verify" or not run["args"][1].startswith("deep")]
    return [pytest.param(run, id=" ".join(run["args"])) for run in runs]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A folder with the generated files; the generator is the corpus's own."""
    folder = tmp_path_factory.mktemp("large")
    expected = json.loads((HANDED / "large_expected.json").read_text())
    for name in LARGE:
        case = expected[f"{name}.cassette.jsonl"]
        command = [sys.executable, HANDED / case["make"][0], *case["make"][1:]]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        made = (folder / f"{name}.cassette.jsonl").read_bytes()
        assert hashlib.sha256(made).hexdigest() == case["sha256"]
    return folder


@pytest.mark.parametrize("run", large_runs())
def test_large_file(run, large, monkeypatch):
    monkeypatch.chdir(large)
    command, *rest = run["args"]
    options = {"--json": "as_json", "--show-calls": "show_calls"}
    chosen = {options[arg]: True for arg in rest if arg.startswith("--")}
    got = getattr(outputs, command)(*(arg for arg in rest if not arg.startswith("--")), **chosen)
    stdout = "".join(got.stdout).replace(os.getcwd(), "@DIR@")
    assert (got.exit, got.stderr) == (run["exit"], run["stderr"])
    if "stdout" in run:
        assert stdout == run["stdout"]
    else:
        assert hashlib.sha256(stdout.encode()).hexdigest() == run["stdout_sha256"]
