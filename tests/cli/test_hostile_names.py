"""Names that would like to be more than names, planted wherever one can stand, and every report of them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

import dsh_lake
from cassette.made import bodies
from cassette.made import header as cassette_header
from cli.runs import Cli, Run
from corpus import THOROUGH
from dsh_lake.cassette import CassetteWriter
from fixtures_kit.made import SOUND, put
from logs import assistant, call, event, header, line, log_path, result, user
from reports.pages import ParsedPage

COMMAND = "\r\n::error::owned%0A]]>&amp;,"
ESCAPES = "\x1b[31m\x9b2J\u202e\u2066"
SCRIPT = "<script>alert(1)</script>"
TAIL = f'"{SCRIPT}|[x](javascript:alert(1))`{{{{7*7}}}}{ESCAPES}\u2028{COMMAND};\t'
LEADS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "'=1",
    "\n::error::owned",
    "<img src=x onerror=alert(1)>",
    "| ",
]
PLACE = f"=1+1<script>alert(1)<-script>|[x](javascript:alert(1))`{ESCAPES}{COMMAND}"
"""A name of a file or folder; a lake itself may lie in none of such a name."""


def nasty(number: int) -> str:
    return LEADS[number % len(LEADS)] + TAIL + str(number)


class Planted(NamedTuple):
    """Where everything is."""

    lake: Path
    home: Path
    cassette: Path
    other_cassette: Path
    fixtures: Path
    runs: Path


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    folder = tmp_path_factory.mktemp("names")
    home = folder / f"home {PLACE}"
    for number in range(3):
        _write_log(home, number)
    cassette, other = home / f"{PLACE}.cassette.jsonl", folder / f"{PLACE}.cassette.jsonl"
    _write_cassettes(cassette, other)
    fixtures, runs = folder / f"fixtures {PLACE}", folder / "runs"
    for tree, word in ((fixtures, "one"), (runs, "two")):
        put(tree, {_renamed(path): text.replace("You are", word) for path, text in SOUND.items()})
        _write_odd_fixture(tree / "acp" / PLACE, word)
    dsh_lake.scan([home, fixtures], lake=folder / "lake", jobs=1)
    return Planted(folder / "lake", home, cassette, other, fixtures, runs)


def _renamed(path: str) -> str:
    return path.replace("session/beta/workspace.expected/out.txt", f"session/beta/workspace.expected/{PLACE}")


def _write_log(home: Path, number: int) -> None:
    def name(offset: int) -> str:
        return nasty(10 * number + offset)

    answered = assistant(5, 1, 1, 10).replace(b'"m"', json.dumps(name(1)).encode())
    failed = {"name": name(2), "code": name(3), "message": name(4)}
    failing = json.loads(result(6, "c2", is_error=True))
    failing["data"]["error"] = failed
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    lines = [
        header(name(0), cwd=f"/w/{name(5)}", parentSession=name(9), origin="subagent", agentPreset=name(6)),
        event("turn/start", 0, {"turn": 1}),
        event("session/title", 1, {"title": name(7)}),
        user(2, f"{name(8)} {secret}"),
        call(3, "c1", name(6), json.dumps({name(2): name(3)})),
        call(4, "c2", name(5), f"{name(1)} {secret}"),
        answered,
        line(failing),
        event(name(4), 7, {}),
        event("turn/end", 9, {"reason": {"kind": name(3)}}),
        b'["no", "object"]\n',
        b'{"type": "torn',
    ]
    log = log_path(home, f"{PLACE}{number}", f"--{PLACE}--", suffix="")
    log.write_bytes(b"".join(lines))


def _write_cassettes(cassette: Path, other: Path) -> None:
    for path, reason in ((cassette, "completed"), (other, "error")):
        with CassetteWriter(path, cassette_header(), "truncate") as writer:
            for body in _calls(reason):
                writer.append(body)
    broken = json.dumps({"kind": nasty(0), nasty(1): 1}).encode() + b"\n"
    cassette.with_name(f"broken {PLACE}.cassette.jsonl").write_bytes(cassette.read_bytes() + broken)


def _calls(reason: str) -> Iterator[dict[str, Any]]:
    described = [
        ({"prompt": [], "label": nasty(number)}, _outcome(reason, number), f"root/{nasty(number)}")
        for number in range(3)
    ]
    yield from bodies(described)


def _outcome(reason: str, number: int) -> dict[str, Any]:
    if number:
        return {
            "kind": "start-error",
            "error": {"name": nasty(number), "message": nasty(2), "code": nasty(3)},
        }
    return {"kind": "result", "redactions": 0, "result": {"output": [], "stopReason": reason}}


def _write_odd_fixture(scenario: Path, word: str) -> None:
    manifest = json.dumps({"version": 1, "profile": nasty(1), nasty(2): 1})
    odd = event(nasty(3), 0, {"text": word})
    put(scenario, {"snapshot.yml": manifest, "session.v4.jsonl": (header(nasty(4)) + odd).decode()})


# -- what may come out ---------------------------------------------------------------------------------------

_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_ELEMENTS = {
    *("testsuites", "testsuite", "testcase", "failure", "error", "system-out"),
}


def is_text(text: str) -> None:
    """For people, on a terminal or not."""
    assert not _CONTROLS.search(text)
    assert not re.search(r"^\s*(::|##)", text, re.M)


def is_json(text: str) -> None:
    json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise ValueError(name)


def is_ndjson(text: str) -> None:
    for each in text.splitlines() if "\u2028" not in text else text.strip("\n").split("\n"):
        is_json(each)


def is_csv(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len({len(row) for row in rows}) <= 1
    for cell in (cell for row in rows for cell in row):
        assert not _FORMULA.match(cell) or _is_number(cell), cell


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", cell) is not None


def is_markdown(text: str) -> None:
    assert not _CONTROLS.search(text)
    without_code = re.sub(r"(?<![\\`])(`+)[^`].*?\1(?!`)", "", text)
    assert not re.search(r"<(?!!-- -->|br>|/?details>|/?summary>|sub>|/sub>)", without_code)
    assert not re.search(r"(?<!\\)\]\(javascript", without_code)
    widths = [len(re.findall(r"(?<!\\)\|", row)) for row in text.splitlines() if row.startswith("|")]
    assert not widths or min(widths) >= 2


def is_page(text: str) -> None:
    page = ParsedPage(text)
    assert not {name for name, _ in page.elements} & {"img", "svg", "a", "iframe", "form", "object"}
    assert not any("alert(1)" in script for script in page.scripts)
    names = {attribute for _, attributes in page.elements for attribute in attributes}
    assert not [name for name in names if name.startswith("on")]


def is_junit(text: str) -> None:
    root = ElementTree.fromstring(text.encode())
    assert {element.tag for element in root.iter()} <= _ELEMENTS
    assert not _CONTROLS.search(text)


def is_sarif(text: str) -> None:
    for found in json.loads(text)["runs"][0]["results"]:
        assert not _CONTROLS.search(found["message"]["text"])
        for location in found["locations"]:
            assert re.fullmatch(r"[!-~]+", location["physicalLocation"]["artifactLocation"]["uri"])


def is_github(text: str) -> None:
    """One command a line, each with a title of ours, and nothing that is decoded into a line end."""
    for command in text.splitlines():
        assert re.match(r"::(error|warning) (file=[^,:\n]*,)?(line=[0-9]+,)?title=[a-z_-]+::", command), (
            command
        )
    assert "%0A" not in text
    assert not _CONTROLS.search(text)


Rule = Callable[[str], None]
ROWS: dict[str, Rule] = {
    "table": is_text,
    "json": is_json,
    "csv": is_csv,
    "ndjson": is_ndjson,
    "markdown": is_markdown,
}
CI: dict[str, Rule] = {"junit": is_junit, "sarif": is_sarif, "github": is_github}
DOCUMENT: dict[str, Rule] = {"table": is_text, "json": is_json}
VERDICT: dict[str, Rule] = {"text": is_text, "json": is_json, **CI}
LAKE = ("--lake", "{lake}")

Case = tuple[tuple[str, ...], dict[str, Rule]]
SHOWN = f"{{home}}/sessions/--{PLACE}--/{PLACE}0/session.v4.jsonl"

COMMANDS: list[Case] = [
    (("sessions", *LAKE), {"csv": is_csv}),
    (("export", "tool_calls", *LAKE), {"csv": is_csv}),
    (("check", *LAKE), {"github": is_github}),
    (("show", f"{SHOWN}#L5"), {"table": is_text}),
    (("cassette", "verify", "{home}"), {"github": is_github}),
    (("cassette", "diff", "{cassette}", "{other_cassette}", "--show-calls"), {"table": is_text}),
    (("fixtures", "check", "{fixtures}"), {"github": is_github}),
]
REFUSED: list[Case] = [
    (("sql", f'select "{PLACE}" from sessions', *LAKE), {}),
    (("sql", "from sessions", "--lake", f"/nowhere/{PLACE}"), {}),
    (("show", f"{PLACE}#L1", *LAKE), {}),
]
MORE_COMMANDS: list[Case] = [
    (("scan", "{home}", "{fixtures}", "--lake", "{lake}"), DOCUMENT),
    (("sessions", *LAKE), ROWS),
    (("views",), DOCUMENT),
    *((("sql", f"from {view}", *LAKE), ROWS) for view in ("tool_health", "findings", "sources", "scenarios")),
    *((("baseline", "--by", by, *LAKE), ROWS) for by in ("model", "workspace", "tool", "session")),
    (("check", *LAKE), {**ROWS, **CI}),
    (("redact-check", *LAKE), {**ROWS, **CI}),
    (("doctor", *LAKE), DOCUMENT),
    *(
        (("export", name, *LAKE), {"csv": is_csv, "ndjson": is_ndjson})
        for name in ("sessions", "interactions")
    ),
    *((("show", f"{SHOWN}#L{number}"), DOCUMENT) for number in (1, 3, 5)),
    (("cassette", "verify", "{home}"), {"table": is_text, "json": is_json, **CI}),
    (("cassette", "inspect", "{cassette}", "--show-calls"), {}),
    (("cassette", "diff", "{cassette}", "{other_cassette}", "--show-calls"), DOCUMENT),
    (("cassette", "ambiguity", "{home}"), DOCUMENT),
    (("fixtures", "check", "{fixtures}"), VERDICT),
    (("fixtures", "drift", "{fixtures}", "{runs}"), VERDICT),
    (("report", "usage", "--titles", *LAKE), {}),
    (("show", f"{nasty(0)}#L2", *LAKE), {}),
    (("export", PLACE, *LAKE), {}),
    (("check", "--only", PLACE, *LAKE), {}),
    (("baseline", "--compare", PLACE, *LAKE), {}),
    (("sessions", "--as-of", PLACE, *LAKE), {}),
    (("fixtures", "check", f"/nowhere/{PLACE}"), {}),
    (("fixtures", "normalize", "{fixtures}/acp/alpha/session.v4.jsonl"), {}),
    (("cassette", "verify", f"/nowhere/{PLACE}"), {}),
    (("reconcile", f"/nowhere/{PLACE}", *LAKE), {}),
    ((PLACE,), {}),
]
CASES = [
    pytest.param(arguments, chosen, rule, id=f"{number}-{' '.join(arguments[:2])[:20]!a}-{chosen}")
    for number, (arguments, formats) in enumerate([*COMMANDS, *REFUSED, *(MORE_COMMANDS if THOROUGH else ())])
    for chosen, rule in (formats or {"": is_text}).items()
]


@pytest.mark.parametrize(("arguments", "chosen", "rule"), CASES)
def test_no_name_is_more_than_a_name(
    arguments: tuple[str, ...], chosen: str, rule: Rule, planted: Planted, cli: Cli
) -> None:
    places = {f"{{{name}}}": str(place) for name, place in planted._asdict().items()}
    filled = [_filled(argument, places) for argument in arguments]
    run = cli(*filled, *(("--format", chosen) if chosen else ()))
    assert run.code in (0, 1, 2), run.stderr
    assert "fault of dsh-lake" not in run.stderr
    is_text(run.stderr)
    if chosen:
        assert run.text
    (is_markdown if arguments[:2] == ("report", "usage") else rule)(run.text)


def _filled(argument: str, places: dict[str, str]) -> str:
    for name, place in places.items():
        argument = argument.replace(name, place)
    return argument


@pytest.mark.skipif(not THOROUGH, reason="takes long: set DSH_LAKE_THOROUGH=1")
def test_pages(planted: Planted, cli: Cli, tmp_path: Path) -> None:
    for number, arguments in enumerate(
        [
            ["report", "usage", "--titles", "--lake", planted.lake],
            ["report", "drift", planted.fixtures, planted.runs, "--with-text"],
        ]
    ):
        for suffix, rule in ((".html", is_page), (".md", is_markdown)):
            page = tmp_path / f"{number}{suffix}"
            option = "--html" if suffix == ".html" else "--markdown"
            run: Run = cli(*arguments, option, page)
            assert run.code in (0, 2), run.stderr
            rule(page.read_text(encoding="utf-8"))


def test_no_file_is_written_outside_of_where_it_was_asked_for(
    planted: Planted, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels and ids of sessions name the cassettes that are made of them."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    home = folder / "home"
    for session, more in (
        ("../../top", {}),
        ("../../../child", {"parentSession": "../../top", "origin": "subagent"}),
    ):
        log = log_path(home, f"s{len(session)}", suffix="")
        log.write_bytes(
            header(session, **more) + user(0, "x") + call(1, "../c", "subagent") + result(2, "../c")
        )
    before = {*tmp_path.rglob("*")}
    run = cli("cassette", "from-sessions", home, "-o", folder / "made")
    assert run.code in (0, 1, 2)
    made = {*tmp_path.rglob("*")} - before
    assert all(path.is_relative_to(folder / "made") for path in made), made
