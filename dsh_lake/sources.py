"""Which files there are to read below the given roots, without opening one of them.

The rule: what counts as a log is decided by its name and its place, never by its content. A folder with a
log at exactly ``sessions/<workspace>/<session>/`` is a DSH home, and only logs at such a place are read in
it; in any other folder every file with a log's name is. A root is read as it is on disk: links that lead
out of it, folders that cannot be listed and look-alikes are reported, never followed or guessed at.

Every folder is listed once and every found file costs one ``stat``.

Source: spec/session-archive.md section 1 (names and places), spec/interface.md "Roots".
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from dsh_lake.real_paths import true_path

Severity = Literal["fail", "warn", "info"]
Kind = Literal["session", "cassette", "fixture", "manifest"]
Encoding = Literal["zstd", "plain"]

_LOG_NAME = re.compile(r"session(?:\.v([1-9][0-9]*))?\.jsonl(\.zstd)?")
_ROLE_NAME = re.compile(r"session(?:\.([1-9][0-9]*))?(?:\.v([1-9][0-9]*))?\.jsonl")
_MAX_SAFE_INTEGER = 2**53 - 1
_WORKSPACE_NAME = re.compile(r"--.*--|_no-cwd", re.DOTALL)
_LOG_SUFFIXES = (".jsonl", ".jsonl.zstd")
_CASSETTE_SUFFIX = ".cassette.jsonl"
_MANIFEST = "snapshot.yml"
_HAS_JUNCTIONS = os.name == "nt"
_MOUNT_POINT = 0xA0000003
"""The tag of a junction, IO_REPARSE_TAG_MOUNT_POINT."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, as it lay on disk when it was found.

    Attributes:
        path: Absolute, below ``root``. Bytes that are not UTF-8 are surrogates: show ``printable(path)``.
        root: Real path of the root it was found under; of a file given by name, its own.
        root_rank: Position of that root among those given.
        kind: ``fixture`` is a log beside a ``snapshot.yml``, which itself is a ``manifest``.
        generation: What the name says; None where it is no log's name.
        named_encoding: What the name says; None where it is no log's name. Content decides.
        is_superseded: The same folder holds a log of a higher generation, of fixtures for the same role.
    """

    path: str
    root: str
    root_rank: int
    kind: Kind
    generation: int | None
    named_encoding: Encoding | None
    is_superseded: bool
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int


@dataclass(frozen=True, slots=True)
class DiscoveryFinding:
    """Something below a root that will not be read, why, and what to do. ``path`` is printable."""

    severity: Severity
    code: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found: files sorted by root_rank and path, each real file once.

    Attributes:
        files: logs, fixtures and cassettes.
        manifests: what says of folders of fixtures what they are.
    """

    files: tuple[SourceFile, ...]
    findings: tuple[DiscoveryFinding, ...]
    opened_roots: tuple[str, ...]
    manifests: tuple[SourceFile, ...] = ()


@lru_cache(maxsize=64)  # A home has thousands of files and a handful of names.
def log_name(name: str) -> tuple[int, Encoding] | None:
    """The generation and encoding that a log's file name states, or None where it is no log's name.

    >>> log_name("session.v4.jsonl.zstd"), log_name("session.jsonl"), log_name("session.v04.jsonl")
    ((4, 'zstd'), (0, 'plain'), None)
    """
    match = _LOG_NAME.fullmatch(name)
    if match is None:
        return None
    return int(match[1] or 0), "zstd" if match[2] else "plain"


@lru_cache(maxsize=64)
def role_name(name: str) -> tuple[int, int] | None:
    """The role (0 is the parent, else the number of a child) and the generation that a fixture's file name
    states, or None where it is no fixture's name.

    Source: spec/snapshot-kit.md section 1.1.

    >>> role_name("session.2.v10.jsonl"), role_name("session.v2.1.jsonl")
    ((2, 10), None)
    """
    match = _ROLE_NAME.fullmatch(name)
    if match is None or max(map(len, match.groups(default=""))) > len(str(_MAX_SAFE_INTEGER)):
        return None
    ordinal, generation = int(match[1] or 0), int(match[2] or 0)
    return (ordinal, generation) if max(ordinal, generation) <= _MAX_SAFE_INTEGER else None


def workspace_of(path: str, separator: str = os.sep) -> str | None:
    r"""The workspace folder of a file at ``sessions/<workspace>/<session>/``, or None at any other place.

    >>> workspace_of(r"C:\Users\u\.dsh\sessions\--w--\s\session.jsonl", separator="\\")
    '--w--'
    """
    parts = path.rsplit(separator, 4)[-4:]
    return parts[1] if len(parts) == 4 and parts[0] == "sessions" else None


def default_root(environ: Mapping[str, str]) -> Path:
    """The DSH home that is meant when none is named: ``$DSH_HOME``, else ``~/.dsh``."""
    return Path(environ.get("DSH_HOME") or Path.home() / ".dsh")


def printable(path: str, separator: str = os.sep) -> str:
    r"""The path as text that can be shown and stored; different paths stay different.

    Bytes that are no UTF-8, halves of characters (which Windows has in names) and control characters are
    escaped, and so is the backslash itself where it separates no folders. :func:`actual_path` is the inverse
    there.

    >>> printable("/home/caf\udce9/a\tb")
    '/home/caf\\xe9/a\\x09b'
    """
    is_plain = path.isprintable()  # which lone surrogates are not
    if is_plain and (separator == "\\" or "\\" not in path):
        return path
    escaped = path if separator == "\\" else path.replace("\\", "\\\\")
    return "".join(letter if letter.isprintable() else _escape(letter) for letter in escaped)


def actual_path(shown: str, separator: str = os.sep) -> str:
    r"""The path that :func:`printable` shows so.

    >>> actual_path(r"/home/caf\xe9/a\x09b") == "/home/caf\udce9/a\tb"
    True
    """
    if separator == "\\" or "\\" not in shown:
        return shown
    return _ESCAPED.sub(_unescape, shown)


_ESCAPED = re.compile(r"\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def _unescape(match: re.Match[str]) -> str:
    octet, short, long = match.groups()
    if octet is not None:
        number = int(octet, 16)
        # Above ASCII only bytes that are no UTF-8 are written so; Python holds those as lone surrogates.
        return chr(number) if number < 0x80 else chr(0xDC00 + number)
    return chr(int(short or long, 16)) if short or long else "\\"


def discover(roots: Sequence[str | os.PathLike[str]]) -> Discovery:
    """All logs and cassettes below the roots.

    Args:
        roots: DSH homes, other folders, or single files, which are read whatever their name. Where roots
            overlap, a file belongs to the first that holds it.

    Returns:
        Files, findings (sorted by path) and the real paths of the roots that could be opened. That a root
        cannot be opened is a finding as well; whether one that could is enough is for the caller to say.
    """
    findings: list[DiscoveryFinding] = []
    opened: dict[str, None] = {}
    files: dict[str, SourceFile] = {}
    for rank, given in enumerate(roots):
        try:
            root = true_path(given)
            found = _files_of_root(root, rank, findings)
        except (OSError, ValueError) as error:
            findings.append(_unreadable("unreadable-root", os.fspath(given), error))
            continue
        opened[root] = None
        for real_path, source in found.items():
            earlier = files.setdefault(real_path, source)
            if source.is_superseded and not earlier.is_superseded:
                files[real_path] = replace(earlier, is_superseded=True)
    ordered = sorted(files.values(), key=lambda source: (source.root_rank, source.path))
    return Discovery(
        files=tuple(source for source in ordered if source.kind != "manifest"),
        findings=tuple(sorted(findings, key=lambda finding: (finding.path, finding.code))),
        opened_roots=tuple(opened),
        manifests=tuple(source for source in ordered if source.kind == "manifest"),
    )


def _files_of_root(root: str, rank: int, findings: list[DiscoveryFinding]) -> dict[str, SourceFile]:
    """The files to read below one root, by real path. Raises OSError where it cannot be opened."""
    status = os.stat(root)
    if stat.S_ISDIR(status.st_mode):
        return _files_of_tree(_list_tree(root, findings), rank, findings)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "neither a folder nor a regular file")
    is_fixture = os.path.exists(os.path.join(os.path.dirname(root), _MANIFEST))
    return {root: _source_file(root, root, rank, status, is_fixture=is_fixture)}


class _Folder:
    """One listed folder: its parent, and what could matter in it, each name with the real path behind it."""

    __slots__ = ("files", "folders", "parent")

    def __init__(self, parent: str) -> None:
        self.parent = parent
        self.files: dict[str, str] = {}
        self.folders: dict[str, str] = {}


class _Tree(NamedTuple):
    """All folders below a root by real path, each after its parent."""

    root: str
    folders: dict[str, _Folder]


class _Place(NamedTuple):
    """A file that is to be read: what it is called, and where it really is."""

    path: str
    folder: str
    name: str
    real_path: str
    is_fixture: bool


def _list_tree(root: str, findings: list[DiscoveryFinding]) -> _Tree:
    """List every folder below ``root`` once.

    A link whose target stays inside is an entry like any other, but is not descended into: the folder
    behind it is reached by its own path. So loops end, and no folder is listed twice.
    """
    folders: dict[str, _Folder] = {}
    pending = [(root, os.path.dirname(root))]
    while pending:
        path, parent = pending.pop()
        folder = folders[path] = _Folder(parent)
        links: list[os.DirEntry[str]] = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_symlink() or (_HAS_JUNCTIONS and _is_junction(entry)):
                        links.append(entry)
                    elif entry.is_dir(follow_symlinks=False):
                        folder.folders[entry.name] = entry.path
                        pending.append((entry.path, path))
                    elif not _may_matter(entry.name):
                        continue
                    elif entry.is_file(follow_symlinks=False):
                        folder.files[entry.name] = entry.path
                    elif _is_wanted(entry.name):
                        findings.append(_not_a_file(entry.path))
        except OSError as error:
            if path == root:
                raise
            findings.append(_unreadable("unreadable", path, error))
        for link in links:
            _resolve_link(link, root, folder, findings)
    return _Tree(root, folders)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Whether the folder is another one's in truth: a link, though Windows does not call it one."""
    return getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == _MOUNT_POINT


def _resolve_link(
    link: os.DirEntry[str], root: str, folder: _Folder, findings: list[DiscoveryFinding]
) -> None:
    """Enter a link into its folder under the real path behind it, or report where it leads."""
    is_wanted = _is_wanted(link.name)
    try:
        target = true_path(link.path)
        mode = os.stat(target).st_mode
    except OSError as error:
        severity: Severity = "warn" if is_wanted else "info"
        message = f"a link to nothing ({error.strerror}): remove it or restore its target"
        findings.append(_finding(severity, "dangling-symlink", link.path, message))
        return
    is_folder = stat.S_ISDIR(mode)
    if target != root and not target.startswith(root.rstrip(os.sep) + os.sep):
        message = (
            f"leads out of the root to {printable(target)} and is not followed: name the target as a root"
        )
        severity = "warn" if is_wanted or is_folder else "info"
        findings.append(_finding(severity, "symlink-outside", link.path, message))
    elif is_folder:
        folder.folders[link.name] = target
    elif stat.S_ISREG(mode):
        if _may_matter(link.name):
            folder.files[link.name] = target
    elif is_wanted:
        findings.append(_not_a_file(link.path))


def _files_of_tree(tree: _Tree, rank: int, findings: list[DiscoveryFinding]) -> dict[str, SourceFile]:
    """The files to read in a listed tree, by real path."""
    places = list(_places(tree, findings))
    highest: dict[tuple[str, int], int] = {}
    for place in places:
        role, generation = _role_and_generation(place.name)
        if generation is not None:
            highest[place.folder, role] = max(generation, highest.get((place.folder, role), 0))
    # One file may be called by several names through links: its own path first, then the smallest.
    places.sort(key=lambda place: (place.path != place.real_path, place.path))
    files: dict[str, SourceFile] = {}
    for place in places:
        if place.real_path in files:
            continue
        try:
            status = os.stat(place.path)
        except FileNotFoundError:
            continue  # It went away since the folder was listed: there is nothing to read or to report.
        except OSError as error:
            findings.append(_unreadable("unreadable", place.path, error))
            continue
        files[place.real_path] = _source_file(
            place.path,
            tree.root,
            rank,
            status,
            is_fixture=place.is_fixture,
            highest_generation=highest.get((place.folder, _role_and_generation(place.name)[0]), 0),
        )
    return files


def _places(tree: _Tree, findings: list[DiscoveryFinding]) -> Iterator[_Place]:
    """The files to read, by the rule of the place. Reports the logs that lie where none belongs."""
    home_of: dict[str, str | None] = {}
    misplaced: dict[str, list[str]] = {}
    read_in_homes: set[str] = set()
    for path, folder in tree.folders.items():
        home = home_of.get(folder.parent)
        if home is None:
            in_place = list(_logs_of_home(tree, path))
            if in_place:
                home = path
                read_in_homes.update(place.real_path for place in in_place)
                yield from in_place
        home_of[path] = home
        is_fixture = _MANIFEST in folder.files
        for name, real_path in folder.files.items():
            is_log = log_name(name) is not None or (is_fixture and role_name(name) is not None)
            if name.endswith(_CASSETTE_SUFFIX) or (home is None and (is_log or name == _MANIFEST)):
                yield _Place(_join(path, name), path, name, real_path, is_fixture)
            elif name.endswith(_LOG_SUFFIXES) and _is_workspace(folder.parent, path):
                findings.append(_flat_log(_join(path, name)))
            elif is_log and home is not None:
                misplaced.setdefault(home, []).append(real_path)
    for home, logs in misplaced.items():
        unread = sorted(set(logs) - read_in_homes)
        if unread:
            findings.append(_misplaced_logs(home, unread))


def _logs_of_home(tree: _Tree, path: str) -> Iterator[_Place]:
    """The logs at exactly ``sessions/<workspace>/<session>/`` below the folder; none where it is no home."""
    nothing = _Folder("")
    folders = tree.folders
    sessions = folders[path].folders.get("sessions", "")
    for workspace, workspace_path in folders.get(sessions, nothing).folders.items():
        for session, session_path in folders.get(workspace_path, nothing).folders.items():
            place = _join(path, f"sessions{os.sep}{workspace}{os.sep}{session}")
            files = folders.get(session_path, nothing).files
            for name, real_path in files.items():
                if log_name(name) is not None:
                    yield _Place(_join(place, name), place, name, real_path, _MANIFEST in files)


def _source_file(
    path: str,
    root: str,
    rank: int,
    status: os.stat_result,
    *,
    is_fixture: bool,
    highest_generation: int = 0,
) -> SourceFile:
    name = os.path.basename(path)
    generation, encoding = log_name(name) or (None, None)
    kind: Kind = "session"
    if name.endswith(_CASSETTE_SUFFIX):
        kind = "cassette"
    elif is_fixture and name == _MANIFEST:
        kind = "manifest"
    elif is_fixture and (role := role_name(name)) is not None:
        kind, generation, encoding = "fixture", role[1], "plain"
    elif is_fixture and generation is not None:
        kind = "fixture"
    return SourceFile(
        path=path,
        root=root,
        root_rank=rank,
        kind=kind,
        generation=generation,
        named_encoding=encoding,
        is_superseded=generation is not None and generation < highest_generation,
        size_bytes=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        inode=status.st_ino,
        device=status.st_dev,
    )


def _role_and_generation(name: str) -> tuple[int, int | None]:
    """The role of a log, 0 but for a child's fixture, and its generation, None where it is no log's name."""
    parsed = log_name(name)
    return (0, parsed[0]) if parsed is not None else role_name(name) or (0, None)


def _is_wanted(name: str) -> bool:
    """Whether a file of this name is one to read, were it in its place."""
    return name.endswith(_CASSETTE_SUFFIX) or log_name(name) is not None


def _may_matter(name: str) -> bool:
    """Whether the name is one to read, a manifest's, or could be a pre-release log's."""
    return name.endswith(_LOG_SUFFIXES) or name == _MANIFEST


def _is_workspace(parent: str, path: str) -> bool:
    """Whether the folder lies and is called as DSH lays and calls the folders of workspaces."""
    if not parent.endswith(f"{os.sep}sessions"):
        return False
    return _WORKSPACE_NAME.fullmatch(os.path.basename(path)) is not None


def _join(folder: str, name: str) -> str:
    """``os.path.join`` for a folder without end separator (but the root of all, a drive or a share), at a
    fifth of its cost."""
    return f"{folder}{name}" if folder.endswith(os.sep) else f"{folder}{os.sep}{name}"


def _escape(letter: str) -> str:
    number = ord(letter)
    if 0xDC80 <= number <= 0xDCFF:  # how Python holds a byte that is no UTF-8
        return f"\\x{number - 0xDC00:02x}"
    return (
        f"\\x{number:02x}"
        if number < 0x80
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )


def _finding(severity: Severity, code: str, path: str, message: str) -> DiscoveryFinding:
    return DiscoveryFinding(severity, code, printable(path), message)


def _unreadable(code: str, path: str, error: OSError | ValueError) -> DiscoveryFinding:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return _finding("fail", code, path, f"cannot be read ({reason}): check that it exists and may be read")


def _not_a_file(path: str) -> DiscoveryFinding:
    return _finding(
        "warn", "not-a-file", path, "is called like a file to read but is none, and is not opened"
    )


def _flat_log(path: str) -> DiscoveryFinding:
    message = (
        "a log directly in a workspace folder is the layout of a pre-release DSH and is not read: "
        "give it by name to read it"
    )
    return _finding("info", "flat-log", path, message)


def _misplaced_logs(home: str, paths: list[str]) -> DiscoveryFinding:
    message = (
        f"{len(paths)} files with a log's name lie outside sessions/<workspace>/<session>/ and are not read, "
        f"the first is {printable(paths[0])}: name their folder as a root to read them"
    )
    return _finding("info", "misplaced-log", home, message)
