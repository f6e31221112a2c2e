"""Many cassettes at once: the same verdicts as one by one, from files and from a lake."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dsh_lake
from dsh_lake import sqlassets
from dsh_lake.canonical import canonical_text, digest
from dsh_lake.cassette import outputs
from dsh_lake.cassette.ambiguities import ambiguity
from dsh_lake.cassette.tree_diff import diff_trees
from dsh_lake.cassette.verification import verify
from dsh_lake.errors import UsageError
from dsh_lake.records.cassette_facts import unstored
from tests.cassette.cases import ROOTS
from tests.cassette.made import bodies, write

SUFFIX = ".cassette.jsonl"
PROMPT = {"prompt": [{"type": "text", "text": "x"}]}


def ended(reason):
    return {"kind": "result", "redactions": 0, "result": {"output": [], "stopReason": reason}}


def recorded():
    """What the original said of each file: path and message, None for a sound one."""
    for root in ROOTS.values():
        for kind in ("valid", "invalid", "diff"):
            folder = root / kind
            if not (folder / "expected.json").is_file():
                continue
            for name, case in json.loads((folder / "expected.json").read_text("utf-8")).items():
                if kind == "valid":
                    yield folder / f"{name}{SUFFIX}", None
                elif kind == "invalid":
                    yield folder / f"{name}{SUFFIX}", case["error"]["message"]
                elif case["a_b"]["json"]["exit"] != 1:
                    yield folder / f"{name}.a{SUFFIX}", None
                    yield folder / f"{name}.b{SUFFIX}", None


EXPECTED = dict(recorded())


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """All cases in a lake, and what the scan said of them."""
    folder = tmp_path_factory.mktemp("cassettes") / "lake"
    return folder, dsh_lake.scan(list(ROOTS.values()), lake=folder)


def test_one_query_gives_the_originals_verdict_of_every_file(lake):
    rows = dsh_lake.connect(lake[0]).execute("select path, message from cassette_verdicts").fetchall()
    verdicts = {Path(path): message and unstored(message) for path, message in rows}
    assert {path: verdicts[path.resolve()] for path in EXPECTED} == EXPECTED


def test_verdicts_need_no_lake():
    verification = verify(list(ROOTS.values()), jobs=1)
    verdicts = {Path(judged.path): judged for judged in verification.cassettes}
    assert {path: verdicts[path].message for path in EXPECTED} == EXPECTED
    assert all((verdicts[path].status == "sound") == (EXPECTED[path] is None) for path in EXPECTED)
    assert verification.exit_code == 2


def test_a_scan_counts_and_judges_cassettes(lake):
    files = [path for root in ROOTS.values() for path in root.rglob(f"*{SUFFIX}")]
    summary = lake[1]
    assert summary["cassettes"] == len(files)
    assert summary["sources"]["found"] == 0
    faulty = {finding["path"] for finding in summary["findings"] if finding["severity"] == "fail"}
    assert {str(path.resolve()) for path, message in EXPECTED.items() if message} <= faulty
    assert not {str(path.resolve()) for path, message in EXPECTED.items() if not message} & faulty
    codes = {finding["code"] for finding in summary["findings"]}
    assert {"hash-mismatch", "chain-break", "duplicate-member", "malformed-json"} <= codes


def test_checks_bear_the_severity_of_their_findings(lake):
    connection = dsh_lake.connect(lake[0])
    connection.execute("create temp table found as select distinct severity, code from cassette_findings")
    for name, check in sqlassets.load("checks").items():
        if name.startswith("cassette_"):
            query = f"select distinct severity from found where code in (select code from {name})"
            found = connection.execute(query).fetchall()
            assert found == [(check.severity,)], name


def test_a_cassette_is_read_again_when_it_changed_and_remembered_when_it_is_gone(tmp_path):
    home, lake = tmp_path / "home", tmp_path / "lake"
    path = home / f"a{SUFFIX}"
    home.mkdir()
    write(path, bodies([(PROMPT, ended("completed"), "root")]))
    first = dsh_lake.scan(home, lake=lake)
    write(path, bodies([(PROMPT, ended("completed"), "root")] * 3))
    second = dsh_lake.scan(home, lake=lake)
    path.unlink()
    third = dsh_lake.scan(home, lake=lake)
    assert [scan["interactions"] for scan in (first, second, third)] == [1, 3, 0]
    connection = dsh_lake.connect(lake)
    assert connection.execute("select status, lines, encoding, format_version from sources").fetchall() == [
        ("missing", 4, "plain", 1)
    ]
    assert connection.execute("select count(*) from interactions").fetchall() == [(3,)]


def test_a_lake_without_content_keeps_no_labels(tmp_path):
    path = tmp_path / "home" / f"a{SUFFIX}"
    path.parent.mkdir()
    write(path, bodies([({**PROMPT, "label": "secret plan"}, ended("completed"), "root")]))
    dsh_lake.scan(path.parent, lake=tmp_path / "lake", content=False)
    query = "select label, prompt_blocks, redaction_patterns from interactions, cassettes"
    assert dsh_lake.connect(tmp_path / "lake").execute(query).fetchall() == [(None, 1, None)]


# -- differences between folders -------------------------------------------------------------------


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """The pairs of the corpus as two folders, and what the original said of each pair."""
    base = tmp_path_factory.mktemp("sides")
    said = {}
    for root in ROOTS.values():
        if not (root / "diff" / "expected.json").is_file():
            continue
        for name, case in json.loads((root / "diff" / "expected.json").read_text("utf-8")).items():
            said[f"deep/{name}{SUFFIX}"] = case
            for side in "ab":
                target = base / side / "deep" / f"{name}{SUFFIX}"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / "diff" / f"{name}.{side}{SUFFIX}", target)
    if not said:
        pytest.skip("no recorded comparisons beside this checkout")
    return base, said


@pytest.mark.parametrize("way", ["a_b", "b_a"])
def test_folders_compare_as_their_files_do(sides, way):
    base, said = sides
    comparison = diff_trees(base / way[0], base / way[2], with_calls=True, jobs=1)
    assert [pair.path for pair in comparison.pairs] == sorted(said)
    assert comparison.exit_code == 2
    for pair in comparison.pairs:
        output = said[pair.path][way]["json"]
        if output["exit"] == 1:
            assert pair.status == "invalid"
            assert pair.message.endswith(output["stderr"].rstrip("\n"))
            continue
        document = json.loads(output["stdout"])
        assert (pair.status == "equivalent") == document["equivalent"]
        assert (pair.status != "not-comparable") == document["comparable"]
        assert (pair.policy_changes, pair.issues) == (document["policyChanges"], document["issues"])
        for change, member in (("added", "added"), ("removed", "removed"), ("outcome", "outcomeChanged")):
            assert getattr(pair, change) == len(document[member]), pair.path
        boundaries = sorted(", ".join(changed["fields"]) for changed in document["boundaryChanged"])
        assert boundaries == sorted(call["what"] for call in pair.calls if call["change"] == "boundary")
        retimed = [t for t in document["timing"] if t["deltaMs"] or t["startLatencyDeltaMs"]]
        deltas = {(t["startLatencyDeltaMs"], t["deltaMs"]) for t in retimed}
        timing = [call for call in pair.calls if call["change"] == "timing"]
        assert {(call["start_latency_delta_ms"], call["duration_delta_ms"]) for call in timing} == deltas
        assert pair.timing == len(timing) == len(retimed)


def test_files_of_one_folder_alone_are_added_or_removed(tmp_path):
    for side, names in (("a", "xy"), ("b", "yz")):
        (tmp_path / side).mkdir()
        for name in names:
            write(tmp_path / side / f"{name}{SUFFIX}", bodies([(PROMPT, ended("completed"), "root")]))
    comparison = diff_trees(tmp_path / "a", tmp_path / "b")
    statuses = {pair.path[0]: pair.status for pair in comparison.pairs}
    assert statuses == {"x": "removed", "y": "equivalent", "z": "added"}
    assert comparison.exit_code == 2
    assert diff_trees(tmp_path / "a", tmp_path / "a").exit_code == 0
    with pytest.raises(UsageError):
        diff_trees(tmp_path / "a", tmp_path / "a" / f"x{SUFFIX}")


def test_the_macro_compares_two_paths(tmp_path):
    write(tmp_path / f"a{SUFFIX}", bodies([(PROMPT, ended("completed"), "root")]))
    write(tmp_path / f"b{SUFFIX}", bodies([(PROMPT, ended("aborted"), "root")]))
    dsh_lake.scan(tmp_path, lake=tmp_path / "lake")
    query = "select change, expected_ending, actual_ending from cassette_diff($a, $b)"
    paths = {side: str(tmp_path.resolve() / f"{side}{SUFFIX}") for side in "ab"}
    rows = dsh_lake.sql(query, tmp_path / "lake", parameters=paths).to_pylist()
    assert rows == [{"change": "outcome", "expected_ending": "completed", "actual_ending": "aborted"}]


# -- ambiguity -------------------------------------------------------------------------------------


def test_ambiguous_groups_are_the_originals():
    expected = {}
    for root in ROOTS.values():
        path = root / "valid" / "expected.json"
        for name, case in json.loads(path.read_text("utf-8")).items() if path.is_file() else ():
            groups = [tuple(group) for group in case["ambiguous_groups"]]
            expected[str(root / "valid" / f"{name}{SUFFIX}")] = groups
    found = ambiguity(list(expected), jobs=1)
    got = {path: [] for path in expected}
    for group in found.groups:
        names = ("parent_key", "parent_context_fingerprint", "request_fingerprint")
        got[group["path"]].append(tuple(group[name] for name in names))
    assert got == expected
    assert not found.refused
    assert found.exit_code == (2 if any(expected.values()) else 0)


def test_how_outcomes_differ_is_told_without_their_content(tmp_path):
    path = write(
        tmp_path / f"a{SUFFIX}",
        bodies([(PROMPT, ended("completed"), "root"), (PROMPT, ended("aborted"), "root")]),
    )
    (group,) = ambiguity(path).groups
    assert (group["calls"], group["outcomes"], group["differs"]) == (2, 2, ["stop_reason"])
    assert [member["stop_reason"] for member in group["members"]] == ["completed", "aborted"]


# -- what is asked about ---------------------------------------------------------------------------


def test_paths_may_be_files_folders_and_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sound = [(PROMPT, ended("completed"), "root")]
    for name in (f"a{SUFFIX}", f"deep/b{SUFFIX}", "named.jsonl", f"deep/[x]{SUFFIX}"):
        Path(name).parent.mkdir(exist_ok=True)
        write(name, bodies(sound))

    def asked(*paths):
        verification = verify(list(paths))
        return [judged.path for judged in verification.cassettes], verification.exit_code

    assert asked(".") == ([f"a{SUFFIX}", f"deep/[x]{SUFFIX}", f"deep/b{SUFFIX}"], 0)
    assert asked("named.jsonl", "./named.jsonl") == (["named.jsonl"], 0)
    assert asked("**/*b.cassette.jsonl") == ([f"deep/b{SUFFIX}"], 0)
    assert asked(f"deep/[x]{SUFFIX}") == ([f"deep/[x]{SUFFIX}"], 0)
    assert asked("none", "deep") == ([f"deep/[x]{SUFFIX}", f"deep/b{SUFFIX}", "none"], 1)
    Path("empty").mkdir()
    assert asked("empty") == (["empty"], 1)


def test_the_exit_code_tells_one_from_many(tmp_path):
    bad = tmp_path / f"bad{SUFFIX}"
    bad.write_text("{}\n")
    assert verify(bad).exit_code == 1
    assert verify([bad, tmp_path]).exit_code == 2
    assert verify(tmp_path).exit_code == 2
    assert verify([bad, tmp_path / "missing"]).exit_code == 1


def test_workers_give_the_same_verdicts(tmp_path, monkeypatch):
    monkeypatch.setattr("dsh_lake.ingest.workers._SMALL_BYTES", 0)
    assert sys.executable
    for number in range(12):
        path = write(tmp_path / f"{number:02}{SUFFIX}", bodies([(PROMPT, ended("completed"), "root")] * 2))
        if number % 5 == 0:
            path.write_text(path.read_text().replace("completed", "Completed"))
    by_jobs = [verify(tmp_path, jobs=jobs).document() for jobs in (1, 2)]
    assert by_jobs[0] == by_jobs[1]
    assert by_jobs[0]["counts"] == {"cassettes": 12, "sound": 9, "invalid": 3, "unreadable": 0}


# -- one by one and all at once --------------------------------------------------------------------

DAMAGES = {
    "swap": lambda lines, at, other: [*lines[:at], lines[other % len(lines)], *lines[at + 1 :]],
    "delete": lambda lines, at, other: lines[:at] + lines[at + 1 :],
    "repeat": lambda lines, at, other: [*lines[: at + 1], lines[other % len(lines)], *lines[at + 1 :]],
    "break": lambda lines, at, other: [
        *lines[:at],
        lines[at][: other % (len(lines[at]) or 1)],
        *lines[at + 1 :],
    ],
    "blank": lambda lines, at, other: [*lines[:at], " ", *lines[at:]],
    "number": lambda lines, at, other: [
        *lines[:at],
        lines[at].replace(f'"sequence":{at}', f'"sequence":{other}').replace(":1,", f":{other},", 1),
        *lines[at + 1 :],
    ],
    "flag": lambda lines, at, other: [
        *lines[:at],
        lines[at].replace('"local":false', '"local":true').replace('"published":true', '"published":false')
        if other % 2
        else lines[at].replace('"published":false', '"published":true'),
        *lines[at + 1 :],
    ],
    "reseal": lambda lines, at, other: resealed(lines, at, other),
}


def resealed(lines, at, other):
    """A changed number under a right digest, so that only checks across lines can find it."""
    try:
        records = [json.loads(line) for line in lines]
        records[at][("sequence", "occurrence", "callKey")[other % 3]] = (other, other % 4 + 1, "root/a~1")[
            other % 3
        ]
        previous = None
        for record in records:
            record.pop("hash")
            record |= {} if previous is None else {"previousHash": previous}
            previous = record["hash"] = digest(record)
        return [canonical_text(record) for record in records]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return lines


damages = st.lists(
    st.tuples(st.sampled_from([*sorted(DAMAGES), *["reseal"] * 6]), st.integers(0, 9), st.integers(0, 300)),
    max_size=3,
)


@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(damages, min_size=80, max_size=80))
def test_damaged_cassettes_get_the_verdict_that_each_gets_alone(histories):
    calls = [
        ({**PROMPT, "label": label}, ended(end), "root")
        for label, end in (("a", "completed"), ("a", "aborted"), ("b", "odd"), ("b", "odd"), ("c", "error"))
    ]
    calls.append((PROMPT, {"kind": "start-error", "error": {"name": "E", "message": ""}}, "root"))
    with tempfile.TemporaryDirectory() as folder:
        base = Path(write(Path(folder) / "base", bodies(calls))).read_text().splitlines()
        alone = {}
        for number, history in enumerate(histories):
            lines = base
            for damage, at, other in history:
                lines = DAMAGES[damage](lines, at % len(lines), other) if lines else lines
            path = Path(folder) / f"{number:02}{SUFFIX}"
            path.write_text("".join(f"{line}\n" for line in lines))
            output = outputs.verify(str(path))
            alone[str(path)] = output.stderr.removesuffix("\n") or None
            assert output.exit == bool(output.stderr)
        together = {judged.path: judged.message for judged in verify(folder, jobs=1).cassettes}
    assert together == alone
