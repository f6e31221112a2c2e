"""A report as a JUnit test report, which every CI server shows.

The rule: one test case for each thing that was checked. What is wrong with it is its failure, what keeps it
from being read its error, and what is doubtful stands in its output.

Source: the schema of Jenkins' xUnit plug-in (testsuites, testsuite, testcase, failure, error, system-out).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from dsh_lake.cassette.terminal import printable
from dsh_lake.reports.report import Case, Remark, Report

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    """The report as XML text."""
    cases = list(report.by_case())
    states = Counter(case.status for case, _ in cases)
    counts = f'tests="{len(cases)}" failures="{states["invalid"]}" errors="{states["unreadable"]}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {counts}>"]
    lines.append(f"  <testsuite name={_attribute(report.suite)} {counts}>")
    for case, remarks in cases:
        lines += _case(case, remarks)
    lines += ["  </testsuite>", "</testsuites>"]
    return "\n".join(lines) + "\n"


def _case(case: Case, remarks: Sequence[Remark]) -> list[str]:
    folder, name = os.path.split(case.path)
    place = f"classname={_attribute(folder or '.')} name={_attribute(name)} file={_attribute(case.path)}"
    faults = [remark for remark in remarks if remark.severity == "fail"]
    doubts = [remark for remark in remarks if remark.severity != "fail"]
    if not remarks:
        return [f"    <testcase {place}/>"]
    lines = [f"    <testcase {place}>"]
    if faults:
        element = "error" if case.status == "unreadable" else "failure"
        about = f"message={_attribute(case.message or '')} type={_attribute(case.code or '')}"
        lines.append(f"      <{element} {about}>{_text(faults)}</{element}>")
    if doubts:
        lines.append(f"      <system-out>{_text(doubts)}</system-out>")
    return [*lines, "    </testcase>"]


def _text(remarks: Sequence[Remark]) -> str:
    return escape("\n".join(f"{remark.code}: {_clean(remark.message)}" for remark in remarks))


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", printable(text))
