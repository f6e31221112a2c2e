"""What is found below a root, and what is said about the rest."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dsh_lake.sources import Discovery, default_root, discover, printable, workspace_of


def write(path: Path, content: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def log(home: Path, workspace: str, session: str, name: str = "session.v4.jsonl.zstd") -> Path:
    return write(home / "sessions" / workspace / session / name)


def found(discovery: Discovery, base: Path) -> list[str]:
    """Paths relative to the (real) base, in the order of the result."""
    return [os.path.relpath(source.path, base) for source in discovery.files]


def told(discovery: Discovery, base: Path) -> list[tuple[str, str, str]]:
    return [(f.severity, f.code, os.path.relpath(f.path, base)) for f in discovery.findings]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path.resolve()


# ---------------------------------------------------------------- homes and other folders


def test_a_home_is_read_at_the_place_of_its_logs_only(base: Path) -> None:
    log(base, "--w--", "a")
    log(base, "_no-cwd", "b", "session.jsonl")
    write(base / "backup" / "session.v4.jsonl.zstd")
    write(base / "sessions" / "--w--" / "a" / "old" / "session.v3.jsonl")
    write(base / "storages" / "session_projcache" / "sessions" / "a.json")
    cassette = write(base / "deep" / "er" / "x.cassette.jsonl")

    discovery = discover([base])

    assert found(discovery, base) == [
        str(cassette.relative_to(base)),
        "sessions/--w--/a/session.v4.jsonl.zstd",
        "sessions/_no-cwd/b/session.jsonl",
    ]
    assert [source.kind for source in discovery.files] == ["cassette", "session", "session"]
    (finding,) = discovery.findings
    assert (finding.severity, finding.code, finding.path) == ("info", "misplaced-log", str(base))
    assert finding.message.startswith("2 files") and "backup/session.v4.jsonl.zstd" in finding.message


def test_a_home_inside_a_home_is_not_read(base: Path) -> None:
    log(base, "--w--", "a")
    log(base / "copy", "--w--", "b")
    assert found(discover([base]), base) == ["sessions/--w--/a/session.v4.jsonl.zstd"]


def test_a_folder_of_homes_is_each_of_them(base: Path) -> None:
    log(base / "laptop", "--w--", "a")
    write(base / "laptop" / "elsewhere" / "session.jsonl")
    log(base / "backups" / "server", "--w--", "b", "session.v4.jsonl")
    write(base / "loose" / "session.v3.jsonl")
    assert found(discover([base]), base) == [
        "backups/server/sessions/--w--/b/session.v4.jsonl",
        "laptop/sessions/--w--/a/session.v4.jsonl.zstd",
        "loose/session.v3.jsonl",
    ]


@pytest.mark.parametrize("below", ["sessions", "sessions/--w--", "sessions/--w--/a"])
def test_a_part_of_a_home_is_read_like_any_folder(base: Path, below: str) -> None:
    log(base, "--w--", "a")
    discovery = discover([base / below])
    assert found(discovery, base) == ["sessions/--w--/a/session.v4.jsonl.zstd"]
    assert discovery.files[0].root == str(base / below)


def test_any_other_folder_is_read_wherever_a_log_lies(base: Path) -> None:
    names = [
        "session.jsonl",
        "a/session.v4.jsonl.zstd",
        "a/b/c/d/e/session.v99.jsonl",
        "sessions/x/session.jsonl",
    ]
    for name in names:
        write(base / name)
    write(base / "a" / "session.lock", b"")
    write(base / "a" / "notes.jsonl")
    discovery = discover([base])
    assert found(discovery, base) == sorted(names)
    assert discovery.findings == ()


def test_a_session_folder_without_a_log_is_no_finding(base: Path) -> None:
    log(base, "--w--", "a")
    write(base / "sessions" / "--w--" / "b" / "session.lock", b"")
    discovery = discover([base])
    assert len(discovery.files) == 1
    assert discovery.findings == ()


def test_an_empty_folder_has_nothing(base: Path) -> None:
    assert discover([base]) == Discovery((), (), (str(base),))
    assert discover([]) == Discovery((), (), ())


def test_pre_release_flat_logs_are_reported(base: Path) -> None:
    log(base, "--w--", "a")
    for name in ("old.jsonl", "older.jsonl.zstd", "session.v4.jsonl", "kept.cassette.jsonl", "notes.txt"):
        write(base / "sessions" / "--w--" / name)
    write(base / "sessions" / "--w--" / "a" / "not-flat.jsonl")
    discovery = discover([base])
    assert found(discovery, base) == [
        "sessions/--w--/a/session.v4.jsonl.zstd",
        "sessions/--w--/kept.cassette.jsonl",
    ]
    assert told(discovery, base) == [
        ("info", "flat-log", "sessions/--w--/old.jsonl"),
        ("info", "flat-log", "sessions/--w--/older.jsonl.zstd"),
        ("info", "flat-log", "sessions/--w--/session.v4.jsonl"),
    ]


def test_flat_logs_alone_make_no_home_but_are_reported(base: Path) -> None:
    write(base / "sessions" / "_no-cwd" / "old.jsonl.zstd")
    for root in (base, base / "sessions", base / "sessions" / "_no-cwd"):
        discovery = discover([root])
        assert discovery.files == ()
        assert told(discovery, base) == [("info", "flat-log", "sessions/_no-cwd/old.jsonl.zstd")]


@pytest.mark.parametrize("place", ["other/--w--/x.jsonl", "sessions/plain/x.jsonl", "sessions/x.jsonl"])
def test_other_line_files_are_nobodys_business(base: Path, place: str) -> None:
    write(base / place)
    assert discover([base]) == Discovery((), (), (str(base),))


# ---------------------------------------------------------------- what a found file says


def test_a_source_carries_what_stat_says(base: Path) -> None:
    path = log(base, "--w--", "a", "session.v3.jsonl")
    os.utime(path, ns=(1, 1_234_567_890_123_456_789))
    status = path.stat()
    (source,) = discover([base]).files
    assert (source.generation, source.named_encoding, source.is_superseded) == (3, "plain", False)
    assert (source.root, source.root_rank) == (str(base), 0)
    assert (source.size_bytes, source.mtime_ns, source.ctime_ns) == (
        1,
        1_234_567_890_123_456_789,
        status.st_ctime_ns,
    )
    assert (source.inode, source.device) == (status.st_ino, status.st_dev)


def test_only_the_highest_generation_of_a_folder_is_current(base: Path) -> None:
    for name in ("session.jsonl.zstd", "session.v9.jsonl", "session.v10.jsonl", "session.v10.jsonl.zstd"):
        log(base, "--w--", "a", name)
    log(base, "--w--", "b", "session.jsonl")
    superseded = {
        os.path.relpath(s.path, base / "sessions/--w--"): s.is_superseded for s in discover([base]).files
    }
    assert superseded == {
        "a/session.jsonl.zstd": True,
        "a/session.v9.jsonl": True,
        "a/session.v10.jsonl": False,
        "a/session.v10.jsonl.zstd": False,
        "b/session.jsonl": False,
    }


def test_in_a_fixture_folder_each_role_has_its_highest_generation(base: Path) -> None:
    names = ["session.jsonl", "session.v3.jsonl", "session.1.v9.jsonl", "session.1.v10.jsonl"]
    for name in [*names, "session.2.jsonl", "session.v2.1.jsonl", "snapshot.yml", "a.cassette.jsonl"]:
        write(base / "acp" / "scenario" / name)
    discovery = discover([base])
    found = {Path(s.path).name: (s.kind, s.generation, s.is_superseded) for s in discovery.files}
    assert found == {
        "session.jsonl": ("fixture", 0, True),
        "session.v3.jsonl": ("fixture", 3, False),
        "session.1.v9.jsonl": ("fixture", 9, True),
        "session.1.v10.jsonl": ("fixture", 10, False),
        "session.2.jsonl": ("fixture", 0, False),
        "a.cassette.jsonl": ("cassette", None, False),
    }
    assert [(Path(s.path).name, s.kind) for s in discovery.manifests] == [("snapshot.yml", "manifest")]


def test_names_of_children_are_logs_beside_a_manifest_alone(base: Path) -> None:
    write(base / "session.jsonl")
    write(base / "session.1.jsonl")
    assert [Path(source.path).name for source in discover([base]).files] == ["session.jsonl"]
    assert discover([base]).manifests == ()


def test_a_file_given_by_name_is_read_whatever_its_name(base: Path) -> None:
    old = write(base / "session.jsonl")
    write(base / "session.v4.jsonl")
    odd = write(base / "Session.V4.jsonl.bak")
    cassette = write(base / "x.cassette.jsonl")
    discovery = discover([old, odd, cassette])
    facts = [(s.path, s.root, s.root_rank, s.kind, s.generation, s.is_superseded) for s in discovery.files]
    assert facts == [
        (str(old), str(old), 0, "session", 0, False),
        (str(odd), str(odd), 1, "session", None, False),
        (str(cassette), str(cassette), 2, "cassette", None, False),
    ]


def test_a_fixture_may_lie_in_a_home(base: Path) -> None:
    write(log(base, "--w--", "a").parent / "snapshot.yml")
    assert [source.kind for source in discover([base]).files] == ["fixture"]


def test_a_fixture_given_by_name_is_a_fixture(base: Path) -> None:
    write(base / "snapshot.yml")
    (source,) = discover([write(base / "session.v4.jsonl")]).files
    assert source.kind == "fixture"


# ---------------------------------------------------------------- several roots


def test_overlapping_roots_give_each_file_once_to_the_first(base: Path) -> None:
    inner = log(base, "--w--", "a")
    log(base, "--v--", "b")
    discovery = discover([inner.parent, base, inner])
    assert [(s.root_rank, os.path.relpath(s.path, base)) for s in discovery.files] == [
        (0, "sessions/--w--/a/session.v4.jsonl.zstd"),
        (1, "sessions/--v--/b/session.v4.jsonl.zstd"),
    ]
    assert discovery.opened_roots == (str(inner.parent), str(base), str(inner))


def test_an_old_generation_stays_one_when_a_root_shows_the_newer(base: Path) -> None:
    old = log(base, "--w--", "a", "session.jsonl")
    log(base, "--w--", "a", "session.v4.jsonl")
    assert [s.is_superseded for s in discover([old, base]).files] == [True, False]


def test_hard_links_are_files_of_their_own(base: Path) -> None:
    first = log(base, "--w--", "a")
    second = base / "sessions/--w--/b/session.v4.jsonl.zstd"
    second.parent.mkdir()
    os.link(first, second)
    assert len(discover([base]).files) == 2


def test_roots_that_cannot_be_opened_are_findings(base: Path) -> None:
    log(base, "--w--", "a")
    fifo = base / "pipe"
    os.mkfifo(fifo)
    loop = base / "loop"
    loop.symlink_to("loop")
    discovery = discover([base / "absent", fifo, loop, "nul\0byte", base])
    assert discovery.opened_roots == (str(base),)
    assert [source.root_rank for source in discovery.files] == [4]
    codes = [f.code for f in discovery.findings if f.severity == "fail"]
    assert codes == ["unreadable-root"] * 4


# ---------------------------------------------------------------- links


def test_a_root_may_be_a_link(base: Path) -> None:
    home = base / "real"
    log(home, "--w--", "a")
    (base / "link").symlink_to("real")
    discovery = discover([base / "link", home])
    assert found(discovery, base) == ["real/sessions/--w--/a/session.v4.jsonl.zstd"]
    assert discovery.opened_roots == (str(home),)


def test_links_that_stay_inside_are_followed_and_loops_end(base: Path) -> None:
    write(base / "a" / "session.v4.jsonl")
    (base / "a" / "up").symlink_to("..")
    (base / "a" / "here").symlink_to(".")
    (base / "b").symlink_to("a")
    (base / "c").mkdir()
    (base / "c" / "session.jsonl").symlink_to("../a/session.v4.jsonl")
    discovery = discover([base])
    assert found(discovery, base) == ["a/session.v4.jsonl"]
    assert discovery.findings == ()


def test_a_link_gives_a_file_a_logs_name(base: Path) -> None:
    write(base / "blobs" / "0001", b"four")
    (base / "s").mkdir()
    (base / "s" / "session.v4.jsonl").symlink_to("../blobs/0001")
    (source,) = discover([base]).files
    assert source.path == str(base / "s" / "session.v4.jsonl")
    assert (source.generation, source.size_bytes) == (4, 4)


@pytest.mark.parametrize("linked", ["sessions", "sessions/--w--", "sessions/--w--/a"])
def test_a_home_may_be_put_together_by_links(base: Path, linked: str) -> None:
    log(base, "--w--", "a")
    elsewhere = base / "disk" / "moved"
    elsewhere.parent.mkdir()
    (base / linked).rename(elsewhere)
    (base / linked).symlink_to(elsewhere)
    discovery = discover([base])
    assert found(discovery, base) == ["sessions/--w--/a/session.v4.jsonl.zstd"]
    assert discovery.findings == ()


def test_two_names_of_one_workspace_are_one(base: Path) -> None:
    log(base, "--w--", "a")
    (base / "sessions" / "--a--").symlink_to("--w--")
    assert found(discover([base]), base) == ["sessions/--w--/a/session.v4.jsonl.zstd"]


def test_links_that_lead_out_are_reported_and_not_followed(base: Path) -> None:
    home, outside = base / "home", base / "outside"
    log(home, "--w--", "a")
    write(outside / "session.v4.jsonl")
    write(outside / "notes.txt")
    (home / "sessions/--w--/b").symlink_to(outside)
    (home / "sessions/--w--/a/session.v9.jsonl").symlink_to(outside / "session.v4.jsonl")
    (home / "notes").symlink_to(outside / "notes.txt")
    (home / "homely").symlink_to(base / "home-sibling")
    write(base / "home-sibling" / "session.jsonl")

    discovery = discover([home])

    assert found(discovery, home) == ["sessions/--w--/a/session.v4.jsonl.zstd"]
    assert not discovery.files[0].is_superseded
    assert told(discovery, home) == [
        ("warn", "symlink-outside", "homely"),
        ("info", "symlink-outside", "notes"),
        ("warn", "symlink-outside", "sessions/--w--/a/session.v9.jsonl"),
        ("warn", "symlink-outside", "sessions/--w--/b"),
    ]


def test_links_to_nothing_are_reported(base: Path) -> None:
    (base / "session.v4.jsonl").symlink_to("absent")
    (base / "latest").symlink_to("absent")
    (base / "x.cassette.jsonl").symlink_to("x.cassette.jsonl")
    discovery = discover([base])
    assert discovery.files == ()
    assert told(discovery, base) == [
        ("info", "dangling-symlink", "latest"),
        ("warn", "dangling-symlink", "session.v4.jsonl"),
        ("warn", "dangling-symlink", "x.cassette.jsonl"),
    ]


# ---------------------------------------------------------------- hostile trees


def test_what_is_no_file_is_never_opened(base: Path) -> None:
    log(base, "--w--", "a")
    folder = base / "sessions" / "--w--" / "b"
    (folder / "session.v9.jsonl").mkdir(parents=True)
    os.mkfifo(folder / "session.jsonl")  # opening it would hang
    os.mkfifo(folder / "other.jsonl")
    (folder / "session.v3.jsonl").symlink_to("session.jsonl")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "session.v4.jsonl"))
    discovery = discover([base])
    assert found(discovery, base) == ["sessions/--w--/a/session.v4.jsonl.zstd"]
    assert told(discovery, base) == [
        ("warn", "not-a-file", "sessions/--w--/b/session.jsonl"),
        ("warn", "not-a-file", "sessions/--w--/b/session.v3.jsonl"),
        ("warn", "not-a-file", "sessions/--w--/b/session.v4.jsonl"),
    ]


def test_names_that_are_not_utf8(base: Path) -> None:
    folder = os.fsencode(base) + b"/caf\xe9\n"
    os.mkdir(folder)
    with open(folder + b"/session.v4.jsonl", "wb"):
        pass
    os.symlink(b"gone", folder + b"/session.jsonl")
    discovery = discover([base])
    (source,) = discovery.files
    assert os.fsencode(source.path) == folder + b"/session.v4.jsonl"
    (finding,) = discovery.findings
    assert finding.path == f"{base}/caf\\xe9\\x0a/session.jsonl"
    assert printable(source.path) == f"{base}/caf\\xe9\\x0a/session.v4.jsonl"


@contextmanager
def _without_privileges() -> Iterator[None]:
    """Root may read everything: be somebody else for a while, where the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_base() -> Iterator[Path]:
    """A folder that other users can reach (pytest's own are private)."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def test_what_may_not_be_listed_is_reported_and_the_rest_is_read(open_base: Path) -> None:
    log(open_base, "--w--", "a")
    locked = log(open_base, "--w--", "b").parent
    locked.chmod(0o000)
    blind = log(open_base, "--w--", "c").parent
    blind.chmod(0o444)  # may be listed, but nothing in it may be looked at
    with _without_privileges():
        discovery = discover([open_base, locked])
    assert found(discovery, open_base) == ["sessions/--w--/a/session.v4.jsonl.zstd"]
    assert told(discovery, open_base) == [
        ("fail", "unreadable", "sessions/--w--/b"),
        ("fail", "unreadable-root", "sessions/--w--/b"),
        ("fail", "unreadable", "sessions/--w--/c/session.v4.jsonl.zstd"),
    ]
    assert discovery.opened_roots == (str(open_base),)


def test_a_path_too_long_for_the_system_is_reported(base: Path) -> None:
    write(base / "session.jsonl")
    here = os.open(base, os.O_RDONLY)
    try:
        for _ in range(20):  # 20 names of 250 letters: longer than any PATH_MAX
            os.mkdir("d" * 250, dir_fd=here)
            deeper = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
    finally:
        os.close(here)
    discovery = discover([base])
    assert found(discovery, base) == ["session.jsonl"]
    assert [(f.severity, f.code) for f in discovery.findings] == [("fail", "unreadable")]


# ---------------------------------------------------------------- small helpers


def test_the_default_root() -> None:
    assert default_root({"DSH_HOME": "/srv/dsh"}) == Path("/srv/dsh")
    assert default_root({}) == Path.home() / ".dsh"
    assert default_root({"DSH_HOME": ""}) == Path.home() / ".dsh"


@pytest.mark.parametrize(
    ("path", "workspace"),
    [
        ("/home/u/.dsh/sessions/--w--/a/session.jsonl", "--w--"),
        ("/home/u/.dsh/sessions/_no-cwd/a/session.v4.jsonl.zstd", "_no-cwd"),
        ("/home/u/store/--w--/a/session.jsonl", None),
        ("/sessions/--w--/session.jsonl", None),
        ("session.jsonl", None),
    ],
)
def test_the_workspace_of_a_path(path: str, workspace: str | None) -> None:
    assert workspace_of(path) == workspace


# ---------------------------------------------------------------- the handed corpus


def corpus_homes(shared: Path) -> list[Path]:
    return sorted(path.parent for path in (shared / "corpus/sessions").rglob("ground_truth.json"))


def test_every_corpus_home_gives_the_files_of_its_ground_truth(shared: Path) -> None:
    homes = corpus_homes(shared)
    assert homes
    for home in homes:
        truth = json.loads((home / "ground_truth.json").read_text())
        discovery = discover([home])
        base = home.resolve() / "sessions"
        current = {
            str(base / s["workspace_dir"] / s["session_dir"] / s["file"]): (
                s["filename_version"],
                "zstd" if s["compressed"] else "plain",
                s["bytes"],
            )
            for s in truth["sessions"]
            if s["current"]
        }
        ours = {
            s.path: (s.generation, s.named_encoding, s.size_bytes)
            for s in discovery.files
            if not s.is_superseded
        }
        assert ours == current, home
        assert len(discovery.files) == truth["totals_own"]["files"], home
        assert discovery.findings == (), home


def test_a_folder_of_all_corpus_homes_is_each_of_them(shared: Path) -> None:
    each = {source.path for home in corpus_homes(shared) for source in discover([home]).files}
    assert {source.path for source in discover([shared / "corpus/sessions"]).files} == each


def test_report_generations_in_one_directory(shared: Path) -> None:
    case = shared / "corpus/reports/B005-generations-in-one-directory"
    expected = json.loads((case / "expected.json").read_text())["expect"]
    current = [source for source in discover([case / "home"]).files if not source.is_superseded]
    assert len(current) == expected["files_read"]
    assert sorted(Path(source.path).parent.name for source in current) == sorted(expected["per_session"])


def test_report_look_alike_names(shared: Path) -> None:
    case = shared / "corpus/reports/B037-look-alike-names"
    expected = json.loads((case / "expected.json").read_text())["expect"]
    discovery = discover([case / "home"])
    assert len(discovery.files) == expected["sessions"]
    assert {Path(source.path).name for source in discovery.files} == {"session.v4.jsonl.zstd"}


def test_every_torture_case_is_found(shared: Path) -> None:
    torture = shared / "corpus/torture"
    cases = json.loads((torture / "expected.json").read_text())["cases"].values()
    current = {s.path for s in discover([torture]).files if not s.is_superseded}
    assert current == {str((torture / case["file"]).resolve()) for case in cases if "file" in case}
