"""Lakes that pages are made of: the demo home, and a home whose every name tries to get out of its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

import dsh_lake
from demo_lake import DemoLake, make
from logs import assistant, call, event, header, line, result, user

BIDI = "\u202e\u2066"
SCRIPT = "<script>document.title='owned'</script>"
HOSTILE_TITLE = f"</script>{SCRIPT}<!-- {BIDI}\u2028\x1b[31m"
HOSTILE_TOOL = f'"><img src=x onerror=alert(1)>{SCRIPT}|[x](javascript:alert(1)){BIDI}'
HOSTILE_MODEL = "`m`*{{7*7}}</style><svg onload=alert(2)> https://example.org/x @somebody"
HOSTILE_SESSION = "s'$(touch owned)\"<b>|"
HOSTILE_FOLDER = "--w-<script>alert(3)<-script>&amp;--"
PROMPT, ARGUMENT, RESULT = "whispered-prompt", "whispered-argument", "whispered-result"


class HostileLake(NamedTuple):
    """The folder of the lake and the truth that its page has to tell."""

    lake: Path
    home: Path


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoLake:
    """The demo home and its lake; no test may change them."""
    return make(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileLake:
    """A session of hostile names, with an unknown event, a line that is no record, and a torn tail."""
    folder = tmp_path_factory.mktemp("hostile")
    home = folder / f"home {SCRIPT.replace('/', '-')}"
    place = home / "sessions" / HOSTILE_FOLDER / "session-1"
    place.mkdir(parents=True)
    answered = assistant(4, 1, 1, 100).replace(b'"m"', _json(HOSTILE_MODEL))
    lines = [
        header(HOSTILE_SESSION),
        event("turn/start", 0, {"turn": 1}),
        event("session/title", 1, {"title": HOSTILE_TITLE}),
        user(2, PROMPT),
        call(3, "c1", HOSTILE_TOOL, f'{{"command":"{ARGUMENT}"}}'),
        answered,
        result(5, "c1", text=RESULT, is_error=True),
        event(f"odd/{SCRIPT}", 6, {}),
        line({"type": f"no time {SCRIPT}"}),
        b'["no", "object"]\n',
        b'{"type": "<script>torn',
    ]
    (place / "session.v4.jsonl").write_bytes(b"".join(lines))
    dsh_lake.scan(home, lake=folder / "lake", jobs=1)
    return HostileLake(folder / "lake", home)


def _json(text: str) -> bytes:
    return json.dumps(text).encode()
