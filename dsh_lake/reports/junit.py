"""A verification as a JUnit test report, which every CI server shows.

The rule: one test case a cassette. What is wrong with it is its failure, what keeps it from being read its
error, and what is doubtful stands in its output.

Source: the schema of Jenkins' xUnit plug-in (testsuites, testsuite, testcase, failure, error, system-out).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from dsh_lake.cassette.terminal import printable
from dsh_lake.cassette.verification import Finding, Judged, Verification

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(verification: Verification) -> str:
    """The report as XML text."""
    by_path: dict[str, list[Finding]] = {judged.path: [] for judged in verification.cassettes}
    for finding in verification.findings:
        by_path[finding.path].append(finding)
    counts = (
        f'tests="{len(verification.cassettes)}" failures="{verification.count("invalid")}" '
        f'errors="{verification.count("unreadable")}"'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {counts}>"]
    lines.append(f'  <testsuite name="cassettes" {counts}>')
    for judged in verification.cassettes:
        lines += _case(judged, by_path[judged.path])
    lines += ["  </testsuite>", "</testsuites>"]
    return "\n".join(lines) + "\n"


def _case(judged: Judged, findings: Sequence[Finding]) -> list[str]:
    folder, name = os.path.split(judged.path)
    place = f"classname={_attribute(folder or '.')} name={_attribute(name)} file={_attribute(judged.path)}"
    faults = [finding for finding in findings if finding.severity == "fail"]
    doubts = [finding for finding in findings if finding.severity != "fail"]
    if not findings:
        return [f"    <testcase {place}/>"]
    lines = [f"    <testcase {place}>"]
    if faults:
        element = "error" if judged.status == "unreadable" else "failure"
        about = f"message={_attribute(judged.message or '')} type={_attribute(judged.code or '')}"
        lines.append(f"      <{element} {about}>{_text(faults)}</{element}>")
    if doubts:
        lines.append(f"      <system-out>{_text(doubts)}</system-out>")
    return [*lines, "    </testcase>"]


def _text(findings: Sequence[Finding]) -> str:
    return escape("\n".join(f"{finding.code}: {_clean(finding.message)}" for finding in findings))


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", printable(text))
