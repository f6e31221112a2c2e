"""Whatever happens to the files between scans, the lake equals one scanned from nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import logs
from tests.corpus import THOROUGH
from tests.lake.stored import bring_up_to_date, rows_of

SESSIONS = ("one", "two")
WORKSPACES = ("--w--", "--x--")


class Home:
    """A home on which a history acts. Each act takes a session name and a number to vary by."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._seq = 0

    def _events(self, path: Path, number: int) -> list[bytes]:
        """A few new lines for a log; its seq goes on, mostly."""
        seq = self._next_seq(path)
        kinds: list[Callable[[int], bytes]] = [
            lambda s: logs.user(s, "héllo\u2028"),
            lambda s: logs.assistant(s, 1, 1 + number % 2, 10 + s),
            lambda s: logs.call(s, f"c{number % 3}"),
            lambda s: logs.result(s, f"c{number % 3}", is_error=number % 2 == 0),
            lambda s: logs.event("llm/retry-started", s, {"turn": 1, "step": 1 + number % 2}),
            lambda s: logs.event("session/title", s, {"title": f"t{s}"}),
            lambda s: logs.event("session/end-seed", s, {"inherited": True} if number % 2 else {}),
            lambda s: logs.event("turn/start" if number % 2 else "turn/end", s, {"turn": number}),
            lambda s: logs.event("plugin/new", s, {"x": number}),
            lambda _: b"not json\n",
        ]
        chosen = [kinds[(number + step) % len(kinds)] for step in range(1 + number % 3)]
        return [make(seq + at) for at, make in enumerate(chosen)]

    def _next_seq(self, path: Path) -> int:
        # Not a count of what is in the file: a gap or repeat now and then is part of the history.
        self._seq += 1
        return self._seq

    def _path(self, session: str, number: int = 0) -> Path:
        plain = session == "two"
        return logs.log_path(self.root, session, WORKSPACES[0], suffix="" if plain else ".zstd")

    def _wrap(self, path: Path, lines: list[bytes]) -> bytes:
        return logs.frame(*lines) if path.name.endswith(".zstd") else b"".join(lines)

    def append(self, session: str, number: int) -> None:
        path = self._path(session)
        if not path.exists():
            path.write_bytes(self._wrap(path, [logs.header(session)]))
        with path.open("ab") as log:
            log.write(self._wrap(path, self._events(path, number)))

    def tear(self, session: str, number: int) -> None:
        path = self._path(session)
        if path.exists():
            whole = self._wrap(path, self._events(path, number))
            with path.open("ab") as log:
                log.write(whole[: 1 + number % (len(whole) - 1)])

    def cut(self, session: str, number: int) -> None:
        path = self._path(session)
        if path.exists():
            size = path.stat().st_size
            os.truncate(path, size - min(size, 1 + number))

    def rewrite(self, session: str, number: int) -> None:
        """Other content under the same size and times, as far as a user can set them."""
        path = self._path(session)
        if path.exists():
            before = path.stat()
            content = bytearray(path.read_bytes())
            if content:
                content[number % len(content)] ^= 1
            path.write_bytes(content)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def migrate(self, session: str, number: int) -> None:
        name = "session.v3.jsonl" + (".zstd" if session == "one" else "")
        old = self._path(session).with_name(name)
        old.write_bytes(self._wrap(old, [logs.header(session, 3), *self._events(old, number)]))

    def copy(self, session: str, number: int) -> None:
        path = self._path(session)
        if path.exists():
            shutil.copy2(path, logs.log_path(self.root, session, WORKSPACES[1]).with_name(path.name))

    def delete(self, session: str, number: int) -> None:
        self._path(session).unlink(missing_ok=True)

    def touch(self, session: str, number: int) -> None:
        if self._path(session).exists():
            os.utime(self._path(session))


ACTS = ("append", "append", "append", "tear", "cut", "rewrite", "migrate", "copy", "delete", "touch")
STEPS = st.lists(
    st.lists(st.tuples(st.sampled_from(ACTS), st.sampled_from(SESSIONS), st.integers(0, 300)), max_size=3),
    min_size=2,
    max_size=5,
)


@settings(max_examples=25 if THOROUGH else 6, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(STEPS)
def test_after_any_history_the_lake_equals_one_scanned_from_nothing(
    history: list[list[tuple[str, str, int]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        home = Home(base / "home")
        home.append("one", 0)
        home.append("two", 1)
        for number, acts in enumerate(history):
            for act, session, varied in acts:
                getattr(home, act)(session, varied)
            bring_up_to_date([home.root], base / "kept")
            bring_up_to_date([home.root], base / f"fresh-{number}")
            kept, fresh = rows_of(base / "kept"), rows_of(base / f"fresh-{number}")
            for table, rows in fresh.items():
                assert kept[table] == rows, table


def test_scanning_twice_equals_scanning_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for number in range(6):
        home.append("one", number)
        home.append("two", number)
    bring_up_to_date([home.root], tmp_path / "lake")
    once = rows_of(tmp_path / "lake")
    bring_up_to_date([home.root], tmp_path / "lake")
    assert rows_of(tmp_path / "lake") == once
    bring_up_to_date([home.root], tmp_path / "lake", read_all=True)
    assert rows_of(tmp_path / "lake") == once
