"""Rules of other systems' paths, as arguments of pure functions: no such system is needed."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_lake import sources
from dsh_lake.real_paths import as_listed, true_path
from dsh_lake.sources import actual_path, discover, printable, workspace_of

# ---------------------------------------------------------------- file systems that take spellings for one


class LooseDisk:
    """Folders and files by path; names are one that differ only in case or in how accents are written."""

    def __init__(self, *paths: str) -> None:
        self.listed: dict[str, list[str]] = {}
        self.looks = 0
        for path in paths:
            names = path.split("/")[1:]
            for depth, name in enumerate(names):
                folder = self.listed.setdefault(self._key("/" + "/".join(names[:depth])), [])
                if name not in folder:
                    folder.append(name)

    @staticmethod
    def _key(path: str) -> str:
        return unicodedata.normalize("NFD", path).lower().rstrip("/")

    def names(self, folder: str) -> list[str]:
        self.looks += 1
        return self.listed[self._key(folder)]

    def is_same(self, one: str, other: str) -> bool:
        folder, _, name = self._key(one).rpartition("/")
        there = any(self._key(listed) == name for listed in self.listed.get(folder, ()))
        return there and self._key(one) == self._key(other)


@pytest.mark.parametrize(
    "asked",
    [
        "/Users/Me/.dsh/sessions",
        "/users/me/.DSH/SESSIONS",
        "/USERS/ME/.dsh/Sessions",
    ],
)
def test_a_spelling_is_the_one_on_disk(asked: str) -> None:
    disk = LooseDisk("/Users/Me/.dsh/sessions")
    assert as_listed(asked, names=disk.names, is_same=disk.is_same) == "/Users/Me/.dsh/sessions"


def test_accents_are_written_as_on_disk() -> None:
    listed = "/Users/" + unicodedata.normalize("NFD", "José/プロジェクト")
    disk = LooseDisk(listed)
    for form in ("NFC", "NFD"):
        asked = unicodedata.normalize(form, listed)
        assert as_listed(asked, names=disk.names, is_same=disk.is_same) == listed


def test_what_is_not_there_keeps_its_spelling() -> None:
    disk = LooseDisk("/Users/Me")
    assert as_listed("/users/ME/New/File", names=disk.names, is_same=disk.is_same) == "/Users/Me/New/File"


def test_a_folder_that_cannot_be_listed_keeps_the_spelling_of_its_names() -> None:
    def refused(_: str) -> list[str]:
        raise PermissionError

    assert as_listed("/users", names=refused, is_same=lambda *_: True) == "/users"


def test_two_spellings_on_a_strict_disk_are_two_folders(tmp_path: Path) -> None:
    for name in ("Home", "home"):
        (tmp_path / name).mkdir()
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system takes both for one")
    assert [true_path(tmp_path / name) for name in ("Home", "home")] == [
        os.path.join(os.path.realpath(tmp_path), name) for name in ("Home", "home")
    ]


def test_a_link_named_like_its_target_is_no_other_spelling_of_it(tmp_path: Path) -> None:
    (tmp_path / "Target").mkdir()
    try:
        (tmp_path / "tARGET").symlink_to("Target")
    except FileExistsError:
        pytest.skip("this file system takes both for one")
    base = os.path.realpath(tmp_path)
    assert as_listed(os.path.join(base, "tARGET")) == os.path.join(base, "tARGET")


def test_on_a_strict_disk_no_folder_is_listed(tmp_path: Path) -> None:
    if os.path.exists(str(tmp_path).swapcase()):
        pytest.skip("this file system takes both for one")

    def never(folder: str) -> list[str]:
        raise AssertionError(folder)

    path = os.path.realpath(tmp_path)
    assert as_listed(path, names=never) == path


def test_a_root_in_two_spellings_is_one_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS does it: the second spelling opens the same files."""
    log = tmp_path / "Home" / "sessions" / "--w--" / "session-a" / "session.v4.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"")
    other = str(tmp_path / "HOME")

    def loose(path: str | os.PathLike[str], *, strict: bool = True) -> str:
        return true_path(str(path).replace(other, str(tmp_path / "Home")), strict=strict)

    monkeypatch.setattr(sources, "true_path", loose)
    discovery = discover([tmp_path / "Home", other])
    assert len(discovery.files) == len(discovery.opened_roots) == 1


# ---------------------------------------------------------------- Windows


@pytest.mark.parametrize(
    ("path", "workspace"),
    [
        (r"C:\Users\me\.dsh\sessions\--C-work--\session-a\session.v4.jsonl.zstd", "--C-work--"),
        (r"\\server\share\dsh\sessions\_no-cwd\session-a\session.jsonl", "_no-cwd"),
        (r"\\?\C:\deep\sessions\--w--\session-a\session.jsonl", "--w--"),
        (r"C:\sessions\--w--\session.jsonl", None),
        (r"C:\store\--w--\session-a\session.jsonl", None),
    ],
)
def test_the_workspace_of_a_path_of_windows(path: str, workspace: str | None) -> None:
    assert workspace_of(path, separator="\\") == workspace


@pytest.mark.parametrize(
    ("folder", "joined"),
    [
        ("C:\\", "C:\\session.jsonl"),
        ("C:\\home", "C:\\home\\session.jsonl"),
        ("\\\\server\\share\\", "\\\\server\\share\\session.jsonl"),
        ("\\\\server\\share\\home", "\\\\server\\share\\home\\session.jsonl"),
    ],
)
def test_a_drive_or_share_as_root_has_one_separator(
    folder: str, joined: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sources, "os", SimpleNamespace(sep="\\"))
        assert sources._join(folder, "session.jsonl") == joined


def test_a_path_of_windows_is_shown_as_it_is() -> None:
    path = r"C:\Users\Zoë\.dsh\sessions\--w--\a\session.jsonl"
    assert printable(path, separator="\\") == path == actual_path(path, separator="\\")


def test_half_a_character_in_a_name_can_be_shown() -> None:
    # Names on NTFS are any 16-bit units.
    assert printable("C:\\a\ud83db", separator="\\") == r"C:\a\ud83db"
    assert printable("/a\ud83db", separator="/") == r"/a\ud83db"


@given(st.text(st.characters(exclude_characters="\0")))
def test_different_paths_are_shown_differently(path: str) -> None:
    """By the inverse; what Python makes of bytes are the characters of UTF-8 and bytes that are none."""
    path = os.fsdecode(path.encode("utf-8", "surrogatepass"))
    shown = printable(path, separator="/")
    assert actual_path(shown, separator="/") == path
    assert shown.isprintable()
    shown.encode()


@pytest.mark.parametrize(("tag", "is_junction"), [(0xA0000003, True), (0xA000000C, False), (0, False)])
def test_a_junction_is_a_link(tag: int, is_junction: bool) -> None:
    """Else one that leads up would be descended into without end. 0xA000000C is a symbolic link."""
    entry = SimpleNamespace(stat=lambda follow_symlinks: SimpleNamespace(st_reparse_tag=tag))
    assert sources._is_junction(cast("Any", entry)) is is_junction


def test_without_junctions_nothing_is_asked(tmp_path: Path) -> None:
    with os.scandir(tmp_path.parent) as entries:
        assert not any(sources._is_junction(entry) for entry in entries)


def test_a_root_with_half_a_character_is_reported() -> None:
    (finding,) = discover(["/no\ud800where"]).findings
    assert finding.code == "unreadable-root"
    finding.path.encode()


def test_names_that_windows_reserves_are_read_where_they_exist(tmp_path: Path) -> None:
    """Here CON and NUL are names like others; where they are devices, no folder lists them."""
    for name in ("CON", "nul", "aux."):
        log = tmp_path / "sessions" / "--w--" / name / "session.jsonl"
        log.parent.mkdir(parents=True)
        log.write_bytes(b"")
    assert len(discover([tmp_path]).files) == 3


def test_ids_that_differ_only_in_case_are_two_files(tmp_path: Path) -> None:
    for name in ("session-a", "SESSION-A"):
        log = tmp_path / "sessions" / "--w--" / name / "session.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
    on_disk = len(os.listdir(tmp_path / "sessions" / "--w--"))
    assert len(discover([tmp_path]).files) == on_disk
