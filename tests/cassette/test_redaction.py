"""Redaction: what is hit, how often, and what a pattern must not touch."""

from __future__ import annotations

import sys

import pytest

from dsh_lake.canonical import canonical_text, parse_json
from dsh_lake.cassette.redact import Redactor
from dsh_lake.errors import CassetteError, DshLakeError
from tests.cassette.cases import as_original, vectors


@pytest.mark.parametrize("case", vectors("redact"))
def test_vector(case):
    value = parse_json(case["input"])
    before = canonical_text(value)
    try:
        redacted, count = Redactor(enabled=case["enabled"], patterns=case["patterns"]).value(value)
    except DshLakeError as error:
        assert as_original(error) == case["error"]
        return
    assert (canonical_text(redacted), count) == (canonical_text(parse_json(case["output"])), case["count"])
    assert canonical_text(value) == before  # a copy


def test_nothing_is_compiled_when_redaction_is_off():
    assert Redactor(enabled=False, patterns=["("]).value({"password": "x"}) == ({"password": "x"}, 0)


def test_secret_values_of_any_type_go_whole():
    value = {"apiKey": [1, {"token": "x"}], "deep": [{"X-Refresh_Token": None}]}
    want = {"apiKey": "[REDACTED]", "deep": [{"X-Refresh_Token": "[REDACTED]"}]}
    assert Redactor().value(value) == (want, 2)


def test_patterns_match_utf16_units():
    assert Redactor(patterns=["^.$"]).text("\U0001f600") == ("\U0001f600", 0)
    assert Redactor(patterns=["\\ud83d"]).text("\U0001f600")[0] == "[REDACTED]\ude00"


def test_without_an_engine_configured_patterns_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "quickjs", None)
    with pytest.raises(CassetteError, match=r"install dsh-lake\[redaction\]") as refusal:
        Redactor(patterns=["x"])
    assert refusal.value.code == "INVALID_CONFIG"
    assert Redactor().text("Bearer abcdefgh") == ("[REDACTED]", 1)


@pytest.mark.parametrize(
    ("block", "pattern", "name"),
    [
        ({"type": "custom"}, "^cust", "type"),
        ({"type": "image", "attachment": {"mediaType": "image/png"}}, "/png", "mediaType"),
        ({"type": "tool-result", "content": [{"type": "deep"}]}, "deep", "type"),
    ],
)
def test_protected_fields(block, pattern, name):
    with pytest.raises(CassetteError, match=f'protected content-block field "{name}"'):
        Redactor(patterns=[pattern]).check_protected([{"type": "text"}, block])
    Redactor(patterns=[pattern], enabled=False).check_protected([block])
    Redactor(patterns=["unrelated"]).check_protected([block, 5, {"type": "image"}])
