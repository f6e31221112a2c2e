"""Guards: the kit's verdicts, and a sound tree broken in one place at a time."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter

import pytest

from corpus import CORPUS, load
from dsh_lake import fixtures_check
from dsh_lake.errors import UnreadableSource
from tests.fixtures_kit.made import (
    CHILD_SCHEMAS,
    ORACLE,
    REQUEST,
    SCHEMAS,
    SOUND,
    SYSTEM,
    both,
    codes,
    edits,
    header,
    log,
    manifest,
    needs_oracle,
    put,
    removes,
    renames,
    sound_tree,
    writes,
)

CASES = load(ORACLE / "guards" / "verdicts.json")["cases"] if ORACLE.is_dir() else []
TREES = CORPUS / "snapshots"


def kit_verdict(case):
    """What the kit's three checks say of a tree: label and message of the first failure, or None."""
    if not case["corpus"]["pass"]:
        return case["corpus"]["kind"], case["corpus"]["message"]
    for failure in case["storage"].values():
        return failure["kind"], failure["message"]
    return None if case["policy"]["pass"] else (case["policy"]["kind"], case["policy"]["message"])


@needs_oracle
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_the_first_finding_is_the_verdict_of_the_kit(case):
    found = fixtures_check(ORACLE / "guards" / "cases" / case["case"], first=True).findings
    verdict = kit_verdict(case)
    if verdict is None:
        assert found == []
    elif verdict[0] == "session-unparsable":  # the words are those of the kit's JSON parser
        assert codes(found) == ["session-unparsable"]
    else:
        assert [(finding.code, finding.message) for finding in found] == [verdict]


@needs_oracle
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_all_findings_hold_what_each_check_of_the_kit_stops_at(case):
    tree = ORACLE / "guards" / "cases" / case["case"]
    checked = fixtures_check(tree, registered=case.get("registered"))
    expected = Counter(
        failure["kind"]
        for failure in (case["corpus"], case["policy"], *case["storage"].values())
        if not failure.get("pass") and failure["kind"] != "crash"
    )
    orphans = case.get("orphans", {})
    expected["scenario-unregistered"] = sum(len(suite["unregistered"]) for suite in orphans.values())
    expected["scenario-directory-missing"] = sum(len(suite["missing"]) for suite in orphans.values())
    found = set(codes(checked.findings))
    told_once = {"session-roles-invalid"} if "session-name-invalid" in found else set()
    assert set(+expected) - told_once <= found
    assert checked.is_sound == (not +expected)
    assert checked.exit_code == (2 if +expected else 0)


@pytest.mark.parametrize(
    ("tree", "first"),
    [
        ("migrated-0.2.1-rc.2", []),  # SOURCES.md: "Passes every corpus guard"
        ("recorded-0.2.1-rc.2", ["unknown-tool"]),  # one scenario records just that
        ("upstream-0.1.1-rc.2", ["manifest-missing"]),  # SOURCES.md: "table-driven kit (no snapshot.yml)"
        ("fork-excerpts", ["manifest-missing"]),  # SOURCES.md: "incomplete scenarios"
    ],
)
def test_trees_of_the_corpus(tree, first):
    if not TREES.is_dir():
        pytest.skip("the corpus of fixtures is not here")
    assert codes(fixtures_check(TREES / tree, first=True).findings) == first
    checked = fixtures_check(TREES / tree)
    assert checked.is_sound == (not first)


def test_the_sound_tree_is_sound(tmp_path):
    checked = fixtures_check(sound_tree(tmp_path))
    assert checked.findings == []
    assert checked.scenarios == ["acp/alpha", "acp/child", "sdk/old", "session/beta", "web/view"]
    assert checked.document() == {"ok": True, "scenarios": 5, "findings": []}


BETA_LOG = "session/beta/session.v4.jsonl"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
PROMPT = {"type": "system/message", "data": {"message": {"content": [{"type": "text", "text": "Hello"}]}}}
TOOLS = {"type": "request/header", "data": {"header": {"tools": [{"name": "bash"}]}, "reason": "initial"}}
NAMES = {"type": "request/header", "data": {"header": {"tools": ["bash"]}, "reason": "initial"}}
DEVELOPER = {"type": "developer/message", "data": {}}
UNKNOWN = {"type": "tool/result", "data": {"error": {"code": "UNKNOWN_TOOL"}}}

KIT = {
    "manifest gone": (removes("sdk/old/snapshot.yml"), "manifest-missing"),
    "absolute source": (edits("web/view/snapshot.yml", "../../session", "/session"), "manifest-invalid"),
    "other name": (renames("session/beta", "session/gamma"), "scenario-name-mismatch"),
    "other profile": (edits("sdk/old/snapshot.yml", "profile: sdk", "profile: web"), "profile-mismatch"),
    "no composition": (
        edits("sdk/old/snapshot.yml", "composition: sdk-agent\n", ""),
        "composition-missing",
    ),
    "no recording": (edits("sdk/old/snapshot.yml", "recording: live\n", ""), "recording-missing"),
    "no header": (
        writes("web/view/snapshot.yml", manifest("view", "web", "platform: posix")),
        "header-missing",
    ),
    "class pinned twice": (
        edits("acp/child/snapshot.yml", "class: default", "class: default\n  pin: true"),
        "duplicate-pin",
    ),
    "class not pinned": (edits("acp/child/snapshot.yml", "class: default", "class: other"), "missing-pin"),
    "ill-spelled name": (writes("sdk/old/session.v02.jsonl", ""), "session-name-invalid"),
    "no session": (removes(BETA_LOG), "owner-without-session"),
    "no parent": (
        renames("acp/child/session.v4.jsonl", "acp/child/session.2.v4.jsonl"),
        "session-roles-invalid",
    ),
    "gap": (writes("acp/child/session.3.v4.jsonl", log(header(ordinal=3))), "session-roles-invalid"),
    "older generation disagrees": (
        writes("acp/child/session.1.v3.jsonl", log(header(2))),
        "header-version-disagrees",
    ),
    "empty session": (writes(BETA_LOG, "\n"), "header-version-disagrees"),
    "borrower owns": (writes("web/view/session.jsonl", log(header(0))), "borrower-owns-session"),
    "source gone": (edits("web/view/snapshot.yml", "v4.jsonl", "v5.jsonl"), "session-source-missing"),
    "source is none of the tree": (
        both(
            edits("web/view/snapshot.yml", "../../session/beta/session.v4.jsonl", "../../x/session.v4.jsonl"),
            writes("x/session.v4.jsonl", log(header())),
        ),
        "session-source-not-owner",
    ),
    "source escapes the tree": (
        edits("web/view/snapshot.yml", "../../session/beta/session.v4.jsonl", "../" * 30 + "etc/passwd"),
        "session-source-not-owner",
    ),
    "source borrows": (
        writes(
            "web/third/snapshot.yml",
            manifest("third", "web", "header: {class: default}", "session: {source: ../view/snapshot.yml}"),
        ),
        "session-source-chained",
    ),
    "source is an older generation": (
        writes("session/beta/session.v5.jsonl", log(header(5))),
        "session-source-not-selected",
    ),
    "source is a child": (
        edits("web/view/snapshot.yml", "../../session/beta/session.v4", "../../acp/child/session.1.v4"),
        "session-source-not-selected",
    ),
    "override undeclared": (writes("web/view/replay.override.json", "[]"), "override-presence"),
    "override gone": (
        edits("web/view/snapshot.yml", "session:", "replay: {override: true}\nsession:"),
        "override-presence",
    ),
    "workspace undeclared": (writes("acp/alpha/workspace.expected/a", ""), "workspace-presence"),
    "workspace gone": (
        renames("session/beta/workspace.expected", "session/beta/other"),
        "workspace-presence",
    ),
    "marker beside a file": (writes("session/beta/workspace.expected/.empty", ""), "empty-marker"),
    "marker of an empty one gone": (removes("session/beta/workspace.expected/out.txt"), "empty-marker"),
    "input outside acp": (writes("web/view/input.json", "{}"), "input-json-presence"),
    "input gone in acp": (removes("acp/alpha/input.json"), "input-json-presence"),
    "transcript outside acp": (writes("sdk/old/stdout.expected.jsonl", ""), "acp-transcript-outside-acp"),
    "prompt source unknown": (
        edits("web/view/snapshot.yml", "systemPromptSource: acp/alpha", "systemPromptSource: alpha"),
        "prompt-source-unknown",
    ),
    "schema source unknown": (
        edits("web/view/snapshot.yml", "toolSchemasSource: acp/alpha", "toolSchemasSource: acp/beta"),
        "schema-source-unknown",
    ),
    "prompt gone": (removes("acp/alpha/system-prompt.expected.md"), "prompt-sidecar-missing"),
    "schemas gone": (removes("acp/alpha/tool-schemas.expected.json"), "schema-sidecar-missing"),
    "prompt linked elsewhere": (
        lambda root: (root / "web/view/system-prompt.expected.md").symlink_to("snapshot.yml"),
        "sidecar-symlink",
    ),
    "raw id": (writes(BETA_LOG, log({**header(), "id": UUID}, SYSTEM)), "identity-not-fixed-point"),
    "legacy token": (
        writes(BETA_LOG, log(header(), {"type": "x", "data": {"messageId": "{{messageId}}"}})),
        "identity-not-fixed-point",
    ),
    "blank line": (writes(BETA_LOG, log(header()) + "\n" + log(SYSTEM)), "identity-not-fixed-point"),
    "not compact": (edits(BETA_LOG, '":"session"', '": "session"'), "identity-not-fixed-point"),
    "prompt in a current log": (writes(BETA_LOG, log(header(), PROMPT)), "unscrubbed-prompt"),
    "prompt in a historical log": (
        writes("sdk/old/session.v2.jsonl", log(header(2), PROMPT)),
        "unscrubbed-prompt",
    ),
    "tools": (writes(BETA_LOG, log(header(), SYSTEM, TOOLS)), "unscrubbed-tools"),
    "names of tools": (writes(BETA_LOG, log(header(), SYSTEM, NAMES)), "unscrubbed-tools"),
    "tools beside a developer's message": (
        writes(BETA_LOG, log(header(), SYSTEM, TOOLS, DEVELOPER)),
        "unscrubbed-tools",
    ),
    "child prompt of no child": (
        edits("acp/child/snapshot.yml", "childSystemPrompts: [1]", "childSystemPrompts: [1, 2]"),
        "child-prompt-index",
    ),
    "child schemas of no child": (
        edits("acp/child/snapshot.yml", "childToolSchemas: [1]", "childToolSchemas: [1, 7]"),
        "child-schema-index",
    ),
    "child prompt gone": (removes("acp/child/system-prompt.1.expected.md"), "child-prompt-sidecar-missing"),
    "child schemas gone": (removes("acp/child/tool-schemas.1.expected.json"), "child-schema-sidecar-missing"),
    "not JSON": (writes(BETA_LOG, log(header(), SYSTEM) + "{\n"), "session-unparsable"),
    "unknown tool": (writes(BETA_LOG, log(header(), SYSTEM, UNKNOWN)), "unknown-tool"),
    "unknown tool in a historical log": (
        writes("sdk/old/session.v2.jsonl", log(header(2), REQUEST, UNKNOWN)),
        "unknown-tool",
    ),
    "other name of the folder": (
        writes(BETA_LOG, log(header(), SYSTEM, {"type": "x", "data": "/private{{cwd}}/a"})),
        "private-cwd-token",
    ),
    "request before any prompt": (writes(BETA_LOG, log(header(), REQUEST, SYSTEM)), "request-before-prompt"),
    "generations mixed": (removes("acp/child/session.1.v4.jsonl"), "policy-mixed-generation"),
    "history undeclared": (
        both(
            removes(BETA_LOG),
            writes("session/beta/session.v2.jsonl", log(header(2))),
            edits("web/view/snapshot.yml", "session.v4", "session.v2"),
        ),
        "policy-undeclared-history",
    ),
    "retained too new": (
        both(
            edits("sdk/old/snapshot.yml", "version: 2", "version: 4"),
            renames("sdk/old/session.v2.jsonl", "sdk/old/session.v4.jsonl"),
            writes("sdk/old/session.v4.jsonl", log(header(), SYSTEM, REQUEST)),
        ),
        "policy-retained-too-new",
    ),
    "coverage of another version": (
        edits("sdk/old/snapshot.yml", "adjacent-migration", "adjacent-migration, multi-hop"),
        "policy-coverage",
    ),
}


@pytest.mark.parametrize("name", KIT)
def test_what_the_kit_refuses(name, tmp_path):
    change, code = KIT[name]
    tree = sound_tree(tmp_path)
    change(tree)
    assert codes(fixtures_check(tree, first=True).findings) == [code]
    checked = fixtures_check(tree)
    assert code in codes(checked.findings)
    assert checked.exit_code == 2
    assert all(finding.path.startswith(str(tmp_path)) for finding in checked.findings)


FURTHER = {
    "prompt of no owner": (writes("acp/child/system-prompt.expected.md", "x\n"), "sidecar-unowned"),
    "schemas beside a source": (writes("web/view/tool-schemas.expected.json", "{}"), "sidecar-unowned"),
    "source is no pin": (
        both(
            edits("web/view/snapshot.yml", "systemPromptSource: acp/alpha", "systemPromptSource: acp/child"),
            writes("acp/child/system-prompt.expected.md", "x\n"),
        ),
        "sidecar-source-not-owner",
    ),
    "source declares other changes": (
        edits("web/view/snapshot.yml", "  pin: true", "  pin: true\n  promptChanges: 1"),
        "sidecar-source-changes",
    ),
    "option of pins": (
        edits("acp/child/snapshot.yml", "class: default", "class: default\n  changes: 1"),
        "pin-only-option",
    ),
    "same prompt twice": (
        both(
            edits("web/view/snapshot.yml", "  systemPromptSource: acp/alpha\n", ""),
            writes("web/view/system-prompt.expected.md", SOUND["acp/alpha/system-prompt.expected.md"]),
        ),
        "sidecar-duplicate",
    ),
    "prompt without an end": (writes("acp/alpha/system-prompt.expected.md", "x"), "prompt-sidecar-invalid"),
    "empty prompt": (writes("acp/alpha/system-prompt.expected.md", ""), "prompt-sidecar-invalid"),
    "prompt changed undeclared": (
        writes("acp/alpha/system-prompt.expected.md", "x\n\n<!-- system/message change 1 -->\n\ny\n"),
        "prompt-sidecar-count",
    ),
    "schemas spelled otherwise": (
        writes("acp/alpha/tool-schemas.expected.json", json.dumps(SCHEMAS) + "\n"),
        "schema-sidecar-invalid",
    ),
    "schemas no JSON": (writes("acp/alpha/tool-schemas.expected.json", "["), "schema-sidecar-invalid"),
    "schemas changed undeclared": (
        writes(
            "acp/alpha/tool-schemas.expected.json",
            json.dumps({**SCHEMAS, "changes": [[{"name": "x"}]]}, indent=2) + "\n",
        ),
        "schema-sidecar-count",
    ),
    "child prompt undeclared": (
        writes("acp/alpha/system-prompt.1.expected.md", "x\n"),
        "child-sidecar-undeclared",
    ),
    "child prompt blank": (
        writes("acp/child/system-prompt.1.expected.md", " \n"),
        "child-prompt-sidecar-invalid",
    ),
    "child prompt that of its class": (
        writes("acp/child/system-prompt.1.expected.md", SOUND["acp/alpha/system-prompt.expected.md"]),
        "child-prompt-sidecar-invalid",
    ),
    "child schemas empty": (
        writes(
            "acp/child/tool-schemas.1.expected.json",
            json.dumps({**CHILD_SCHEMAS, "initial": []}, indent=2) + "\n",
        ),
        "child-schema-sidecar-invalid",
    ),
    "header changes undeclared": (
        writes("acp/alpha/session.v4.jsonl", log(header(), SYSTEM, REQUEST, REQUEST)),
        "pin-header-count",
    ),
    "resumed in a pin": (
        writes(
            "acp/alpha/session.v4.jsonl",
            log(
                header(),
                SYSTEM,
                REQUEST,
                {"type": "request/header", "data": {"header": {"tools": "{{tools}}"}, "reason": "resume"}},
            ),
        ),
        "pin-header-count",
    ),
    "header without tools": (
        writes(
            "acp/alpha/session.v4.jsonl",
            log(header(), SYSTEM, {"type": "request/header", "data": {"header": {}, "reason": "initial"}}),
        ),
        "pin-header-tools",
    ),
    "no transcript": (removes("acp/alpha/stdout.expected.jsonl"), "acp-transcript-missing"),
    "borrower in acp": (
        both(
            writes(
                "acp/third/snapshot.yml",
                manifest(
                    "third",
                    "acp",
                    "header: {class: default}",
                    "session:",
                    "  source: ../alpha/session.v4.jsonl",
                ),
            ),
            writes("acp/third/input.json", "{}"),
            writes("acp/third/stdout.expected.jsonl", ""),
        ),
        "acp-borrower",
    ),
    "writer oracle of an old generation": (
        writes("sdk/old/writer.expected.jsonl", log(header(3))),
        "writer-oracle-generation",
    ),
    "writer oracle of no role": (
        writes("sdk/old/writer.1.expected.jsonl", log(header())),
        "writer-oracle-roles",
    ),
    "writer oracle of a current session": (
        writes("session/beta/writer.expected.jsonl", log(header())),
        "writer-oracle-roles",
    ),
    "raw id in a writer oracle": (
        writes("sdk/old/writer.expected.jsonl", log({**header(), "id": UUID})),
        "identity-not-fixed-point",
    ),
}


@pytest.mark.parametrize("name", FURTHER)
def test_what_the_kits_suites_refuse_beyond_that(name, tmp_path):
    change, code = FURTHER[name]
    tree = sound_tree(tmp_path)
    change(tree)
    checked = fixtures_check(tree)
    assert code in codes(checked.findings)
    assert checked.exit_code == 2


ALLOWED = {
    "names of tools beside a developer's message": writes(BETA_LOG, log(header(), SYSTEM, NAMES, DEVELOPER)),
    "numbers that do not begin at 1": edits("acp/child/session.1.v4.jsonl", "session:2", "session:7"),
    "a series of requests in a pin": writes(
        "acp/alpha/session.v4.jsonl",
        log(
            header(),
            SYSTEM,
            REQUEST,
            {"type": "request/header", "data": {"header": {"tools": "{{tools}}"}, "reason": "series"}},
        ),
    ),
    "retired tools of today": both(
        edits("sdk/old/snapshot.yml", "version: 2", "version: 4"),
        edits("sdk/old/snapshot.yml", "adjacent-migration", "retired-tools"),
        removes("sdk/old/session.v2.jsonl"),
        writes("sdk/old/session.v4.jsonl", log(header(), SYSTEM, REQUEST)),
    ),
    "an empty end with its marker": both(
        removes("session/beta/workspace.expected/out.txt"),
        writes("session/beta/workspace.expected/.empty", ""),
    ),
    "declared changes": both(
        *(
            edits(f"{key}/snapshot.yml", "  pin: true", "  pin: true\n  changes: 1\n  promptChanges: 1")
            for key in ("acp/alpha", "sdk/old", "web/view")
        ),
        edits("session/beta/snapshot.yml", "  pin: true", "  pin: true\n  changes: 1\n  promptChanges: 1"),
        writes(BETA_LOG, log(header(), SYSTEM, REQUEST, REQUEST)),
        writes("acp/alpha/session.v4.jsonl", log(header(), SYSTEM, REQUEST, REQUEST)),
        writes("acp/alpha/system-prompt.expected.md", "x\n\n<!-- system/message change 1 -->\n\ny\n"),
        writes(
            "acp/alpha/tool-schemas.expected.json",
            json.dumps({**SCHEMAS, "changes": [[{"name": "x"}]]}, indent=2) + "\n",
        ),
    ),
    "a sidecar linked to its source": lambda root: (root / "web/view/system-prompt.expected.md").symlink_to(
        "../../acp/alpha/system-prompt.expected.md"
    ),
    "other files": both(
        writes("acp/README.md", ""), writes("acp/alpha/notes.jsonl", ""), writes("cordis.yml", "")
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed(name, tmp_path):
    tree = sound_tree(tmp_path)
    ALLOWED[name](tree)
    assert fixtures_check(tree).findings == []


@pytest.mark.parametrize("is_mixed", [False, True])
def test_rows_that_keep_seq_or_time_are_a_warning(is_mixed, tmp_path):
    tree = sound_tree(tmp_path)
    rows = [{**SYSTEM, "seq": 0, "time": 0}, REQUEST if is_mixed else {**REQUEST, "seq": 1, "time": 0}]
    put(tree, {BETA_LOG: log(header(), *rows)})
    checked = fixtures_check(tree)
    (finding,) = checked.findings
    assert (finding.severity, finding.code, finding.line) == ("warn", "envelope-kept", 2)
    assert ("cannot be compared" in finding.message) == is_mixed
    assert checked.exit_code == 0


def test_a_whole_corpus_covers_every_older_generation(tmp_path):
    tree = sound_tree(tmp_path)
    checked = fixtures_check(tree, is_whole_corpus=True)
    assert [finding.message for finding in checked.findings] == [
        "Session corpus lacks v0 coverage: multi-hop, packed-row, retry-failure, shipped-profile",
        "Session corpus lacks v1 coverage: adjacent-migration",
        "Session corpus lacks v3 coverage: adjacent-migration",
    ]
    removes(
        "acp/alpha/session.v4.jsonl", "acp/child/session.v4.jsonl", "acp/child/session.1.v4.jsonl", BETA_LOG
    )(tree)
    assert "policy-no-majority" in codes(fixtures_check(tree, is_whole_corpus=True).findings)


def test_every_fault_is_told_in_the_order_of_the_kits_checks(tmp_path):
    tree = sound_tree(tmp_path)
    both(
        removes("acp/child/session.1.v4.jsonl"),  # policy
        writes(BETA_LOG, log(header(), REQUEST)),  # storage
        removes("acp/alpha/input.json"),  # corpus
        edits("sdk/old/snapshot.yml", "recording: live\n", ""),  # manifest
    )(tree)
    found = codes(fixtures_check(tree).findings)
    assert found == [
        "recording-missing",
        "input-json-presence",
        "request-before-prompt",
        "policy-mixed-generation",
    ]
    assert codes(fixtures_check(tree, first=True).findings) == found[:1]


def test_like_faults_of_a_scenario_are_all_told(tmp_path):
    tree = sound_tree(tmp_path)
    edits("acp/child/snapshot.yml", "childSystemPrompts: [1]", "childSystemPrompts: [1, 2, 7]")(tree)
    assert codes(fixtures_check(tree).findings) == ["child-prompt-index", "child-prompt-index"]


def test_what_two_checks_of_the_kit_meet_is_told_once(tmp_path):
    tree = sound_tree(tmp_path)
    put(tree, {BETA_LOG: log({**header(), "id": UUID}, PROMPT, TOOLS), "sdk/old/session.v02.jsonl": ""})
    assert Counter(codes(fixtures_check(tree).findings)) == Counter(
        ["identity-not-fixed-point", "unscrubbed-prompt", "unscrubbed-tools", "session-name-invalid"]
    )


def test_historical_logs_keep_their_bytes_where_only_their_storage_can_be_judged(tmp_path):
    tree = sound_tree(tmp_path)
    put(tree, {"sdk/old/session.v2.jsonl": log({**header(2), "id": UUID}, PROMPT, TOOLS)})
    edits("sdk/old/snapshot.yml", "recording: live", "recording: maybe")(tree)
    put(tree, {"session/beta/snapshot.yml": "x", BETA_LOG: log({**header(), "id": UUID}, SYSTEM)})
    assert [(finding.code, finding.scenario) for finding in fixtures_check(tree).findings] == [
        ("manifest-invalid", "sdk/old"),
        ("manifest-invalid", "session/beta"),
        ("identity-not-fixed-point", "session/beta"),
    ]


def test_tables_of_suites(tmp_path):
    checked = fixtures_check(sound_tree(tmp_path), registered={"acp": ["alpha", "gone"], "web": ["view"]})
    assert [(finding.code, finding.scenario) for finding in checked.findings] == [
        ("scenario-unregistered", "acp/child"),
        ("scenario-directory-missing", "acp/gone"),
    ]


def test_nothing_outside_the_tree_is_read(tmp_path):
    put(tmp_path, {"secret": "s3cret", "other/snapshot.yml": SOUND["acp/alpha/snapshot.yml"]})
    tree = sound_tree(tmp_path / "tree")
    both(
        removes("acp/alpha/session.v4.jsonl", "sdk/old/snapshot.yml"),
        lambda root: (root / "acp/alpha/session.v4.jsonl").symlink_to(tmp_path / "secret"),
        lambda root: (root / "sdk/old/snapshot.yml").symlink_to(tmp_path / "secret"),
        lambda root: (root / "session/linked").symlink_to(tmp_path / "other"),
        lambda root: shutil.rmtree(root / "session/beta/workspace.expected"),
        lambda root: (root / "session/beta/workspace.expected").symlink_to(tmp_path),
    )(tree)
    checked = fixtures_check(tree)
    found = [(finding.code, finding.scenario) for finding in checked.findings]
    assert ("symlink-outside", "acp/alpha") in found
    assert ("symlink-outside", "sdk/old") in found
    assert ("not-a-file", "session/beta") in found
    assert ("not-walked", None) in found
    assert "s3cret" not in str(checked)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are a POSIX thing")
def test_pipes_and_folders_in_the_place_of_files_are_not_opened(tmp_path):
    tree = sound_tree(tmp_path)
    removes(BETA_LOG, "sdk/old/snapshot.yml")(tree)
    os.mkfifo(tree / BETA_LOG)
    (tree / "sdk/old/snapshot.yml").mkdir()
    found = [(finding.code, finding.scenario) for finding in fixtures_check(tree).findings]
    assert ("not-a-file", "session/beta") in found
    assert ("not-a-file", "sdk/old") in found


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said_and_fails_the_check(tmp_path):
    tree = sound_tree(tmp_path)
    (tree / BETA_LOG).chmod(0)
    (tree / "web/view").chmod(0)
    try:
        checked = fixtures_check(tree)
    finally:
        (tree / "web/view").chmod(0o700)
    assert [finding.scenario for finding in checked.findings if finding.code == "unreadable"] == [
        "web/view",
        "session/beta",
    ]
    assert checked.exit_code == 1


def test_a_manifest_of_any_length_is_not_read(tmp_path):
    tree = sound_tree(tmp_path)
    with open(tree / "sdk/old/snapshot.yml", "ab") as file:
        file.truncate(10 << 30)
    assert codes(fixtures_check(tree, first=True).findings) == ["manifest-invalid"]


@pytest.mark.parametrize("files", [{}, {"readme": ""}, {"other/one/snapshot.yml": ""}, {"acp/a.txt": ""}])
def test_nothing_to_check_is_an_error(files, tmp_path):
    put(tmp_path, files)
    with pytest.raises(UnreadableSource, match="nothing to check"):
        fixtures_check(tmp_path)


def test_a_tree_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(UnreadableSource):
        fixtures_check(tmp_path / "none")


def test_a_tree_reached_through_a_link_is_the_same_tree(tmp_path):
    sound_tree(tmp_path / "tree")
    (tmp_path / "link").symlink_to("tree")
    assert fixtures_check(tmp_path / "link").findings == []
