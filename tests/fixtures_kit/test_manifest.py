"""Manifests: what the closed schema admits, what it says otherwise, and what a hostile one costs."""

from __future__ import annotations

import time

import pytest

from corpus import load
from dsh_lake.errors import FixtureError
from dsh_lake.fixtures.manifest import parse_manifest, writes_current_fixtures
from dsh_lake.fixtures.yaml_values import YamlError, parse
from tests.fixtures_kit.made import ORACLE, needs_oracle

CASES = load(ORACLE / "manifests.json")["cases"] if ORACLE.is_dir() else []
PREFIX = "session-snapshot: snapshot.yml: "


def refusal(text: str) -> str:
    """What is said of a manifest, without the prefix that every message has."""
    with pytest.raises(FixtureError) as refused:
        parse_manifest(text)
    assert str(refused.value).startswith(PREFIX)
    return str(refused.value).removeprefix(PREFIX)


@needs_oracle
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_manifests_are_judged_as_the_kit_judges_them(case):
    if case["ok"]:
        assert parse_manifest(case["yaml"]).document() == case["value"]
    else:
        assert PREFIX + refusal(case["yaml"]) == case["message"]


BASE = "version: 1\nprofile: web\n"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("platform: linux", "manifest.platform must be posix or pwsh"),
        ("permission: all", "manifest.permission must be read-only, workspace-write, or danger-full-access"),
        ("scenario: 123", "manifest.scenario must be a lower-kebab-case name"),
        ("scenario: null", "manifest.scenario must be a lower-kebab-case name"),
        ('scenario: "a\\n"', "manifest.scenario must be a lower-kebab-case name"),
        ("header: []", "manifest.header must be a mapping"),
        ("header: {}", "manifest.header.class must be a lower-kebab-case name"),
        (
            "header: {class: a, systemPromptSource: ../bad}",
            "manifest.header.systemPromptSource must be a lower-kebab-case name or corpus-relative path",
        ),
        ("header: {class: a, changes: true}", "manifest.header.changes must be a non-negative integer"),
        (
            "header: {class: a, childToolSchemas: [1, 1.0]}",
            "manifest.header.childToolSchemas must be an array of unique positive integers",
        ),
        (
            "header: {class: a, childToolSchemas: [true]}",
            "manifest.header.childToolSchemas must be an array of unique positive integers",
        ),
        ("workspace: {}", "manifest.workspace must not be empty"),
        ("input: {}", "manifest.input must declare task or attachments"),
        (
            'input: {task: "\\uFEFF \\u2003"}',
            "manifest.input.task must be a non-empty string when present",
        ),
        (
            "input: {attachments: [{id: 'sha256:1', mediaType: png, data: QQ==}]}",
            "manifest.input.attachments[0].mediaType must be a MIME type",
        ),
        (
            "input: {attachments: [{id: 'sha256:1', mediaType: a/b, data: ''}]}",
            "manifest.input.attachments[0].data must be non-empty base64",
        ),
        ("session: {source: /etc/passwd}", "manifest.session.source must be a relative POSIX path"),
        ('session: {source: "a\\0b"}', "manifest.session.source must be a relative POSIX path"),
        (
            "sessionFormat: {version: -0.0, coverage: [multi-hop]}",
            "manifest.sessionFormat.version must be a non-negative safe integer",
        ),
        (
            "sessionFormat: {version: 9007199254740992, coverage: [multi-hop]}",
            "manifest.sessionFormat.version must be a non-negative safe integer",
        ),
        (
            "sessionFormat: {version: 0, coverage: []}",
            "manifest.sessionFormat.coverage must be a non-empty array of unique supported coverage names",
        ),
        (
            "session: {source: a}\nsessionFormat: {version: 0, coverage: [multi-hop]}",
            "manifest.sessionFormat is only valid when the scenario owns its Session fixtures",
        ),
        ("<<: {platform: posix}", "manifest has unknown field(s): <<"),
        ("1: a\n~: b\ntrue: c", "manifest has unknown field(s): 1, null, true"),
        ("environment: {A: 1}", "manifest.environment must map uppercase environment names to strings"),
        ("environment: {A_b: x}", "manifest.environment must map uppercase environment names to strings"),
    ],
)
def test_what_the_schema_refuses(more, message):
    assert refusal(BASE + more + "\n") == message


@pytest.mark.parametrize("version", ["true", "'1'", "2", "1.5", "null", "[1]"])
def test_the_version_is_the_number_one(version):
    assert refusal(f"version: {version}\nprofile: acp\n") == "manifest.version must equal 1"


def test_the_first_failure_in_the_order_of_the_schema_is_told():
    text = "sessionFormat: 1\ninput: 1\nheader: 1\nprofile: no\nversion: 1\n"
    assert refusal(text) == "manifest.profile must be headless, sdk, acp, or web"
    assert refusal(text.replace("no", "acp")) == "manifest.header must be a mapping"


def test_only_scalars_of_json_are_more_than_text():
    value = parse("[yes, No, on, 2026-01-01, 12:30:45, 0o17, 0x1F, 0b11, 1_000, .5, TRUE, Null, ~, '1', ! 1]")
    assert value == [
        *("yes", "No", "on", "2026-01-01", "12:30:45"),
        *(15, 31, 3, 1000, 0.5),
        *(True, None, None, "1", "1"),
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: !!js/function 'x'", "unknown tag !<tag:yaml.org,2002:js/function>"),
        ("a: !!binary aGk=", "unknown tag !<tag:yaml.org,2002:binary>"),
        (
            "a: !!python/object/apply:os.system [x]",
            "unknown tag !<tag:yaml.org,2002:python/object/apply:os.system>",
        ),
        ("a: !!int x", "cannot resolve a node with !<tag:yaml.org,2002:int> explicit tag"),
        ("a: *b", 'unidentified alias "b"'),
        ("a: {x: 1, y: 2, x: 3}", "duplicated mapping key (1:17)"),
        ("a: b: c", "bad indentation of a mapping entry (1:5)"),
        ("--- 1\n--- 2", "expected a single document in the stream, but found more"),
        ("a: 'x", "unexpected end of the stream within a single quoted scalar"),
        ("\r\r\x85'x", "unexpected end of the stream within a single quoted scalar"),
    ],
)
def test_what_yaml_refuses(text, place):
    with pytest.raises(YamlError) as refused:
        parse(text + "\n")
    assert str(refused.value).startswith(f"YAMLException: {place}")


@pytest.mark.parametrize("text", ["a: \x07", "a: \x00", "a: \ud800", "\ufffe"])
def test_characters_that_yaml_has_not_are_refused(text):
    with pytest.raises(YamlError):
        parse(text)


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x]"]
    for level in range(1, levels):
        aliases = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{aliases}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(bomb(100), "manifest has unknown field(s): a0, a1, ", id="aliases"),
        pytest.param(BASE + "extra: &x [*x]", "manifest has unknown field(s): extra", id="in itself"),
        pytest.param("[" * 200_000, "invalid YAML: ", id="deep"),
        pytest.param(
            "".join(f"{' ' * depth}a:\n" for depth in range(1_500)), "invalid YAML: ", id="indented"
        ),
        pytest.param("? " * 5_000, "invalid YAML: ", id="keys"),
        pytest.param(BASE + "extra: " + "x" * 5_000_000, "manifest has unknown field(s): extra", id="long"),
        pytest.param("- a\n" * 100_000, "manifest must be a mapping", id="many"),
    ],
)
def test_a_hostile_manifest_costs_no_more_than_its_length(text, message):
    started = time.monotonic()
    assert refusal(text).startswith(message)
    assert time.monotonic() - started < 10


def test_lines_around_a_fault_are_cut_to_a_width():
    with pytest.raises(YamlError) as refused:
        parse(f"a: 1\n{'b' * 300}: [1\n")
    assert max(map(len, str(refused.value).splitlines())) < 200


@pytest.mark.parametrize(
    ("more", "mode", "writes"),
    [
        ("", "record", True),
        ("", "refresh", True),
        ("", "replay", False),
        ("session: {source: a}", "record", False),
        ("sessionFormat: {version: 0, coverage: [multi-hop]}", "refresh", False),
    ],
)
def test_which_runs_write_current_fixtures(more, mode, writes):
    assert writes_current_fixtures(parse_manifest(f"{BASE}{more}\n"), mode) is writes
