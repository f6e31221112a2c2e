"""The section of a page of usage on what could not be read: files, lines, findings."""

from __future__ import annotations

from dsh_lake.reports.document import UNKNOWN, Column, Section, Table
from dsh_lake.reports.usage_facts import UsageFacts
from dsh_lake.reports.wording import bytes_size, number

_STATUSES = {
    "ok": "read whole",
    "partial": "read in part",
    "superseded": "not counted: a newer form of the session lies beside it",
    "duplicate": "not counted: another copy of the session is",
    "missing": "gone from disk; what was read of it is counted still",
    "skipped": "not read: empty, or written by a newer version of DSH",
    "failed": "could not be read",
}
_SEVERITIES = {"fail": "something is missing", "warn": "odd, but read", "info": "remark"}
_KINDS = {"session": "session record", "cassette": "recorded sub-agent calls", "fixture": "test fixture"}


def health_section(facts: UsageFacts) -> Section:
    """Sources by status, rejects by code and findings, of the whole lake whatever the period."""
    sentences = ["This is about all files of the lake, whatever the period."]
    if not facts.rejects and not facts.findings:
        sentences.append(
            "Everything was read, and nothing odd was met." if facts.sources else "There are no files."
        )
    blocks = [_sources_table(facts)] if facts.sources else []
    if facts.rejects:
        blocks.append(_rejects_table(facts))
    if facts.findings:
        blocks.append(_findings_table(facts))
    return Section("What could not be read", sentences, blocks)


def _sources_table(facts: UsageFacts) -> Table:
    return Table(
        "Files",
        [
            Column("how they were read"),
            Column("kind"),
            Column("files", is_number=True),
            Column("size", is_number=True),
            Column("not readable", is_number=True),
            Column("lines refused", is_number=True),
        ],
        [
            [
                _STATUSES.get(row["status"], row["status"] or UNKNOWN),
                _KINDS.get(row["kind"], row["kind"] or UNKNOWN),
                number(row["files"]),
                bytes_size(row["size_bytes"]),
                bytes_size(row["unread_bytes"]),
                number(row["rejected_lines"]),
            ]
            for row in facts.sources
        ],
    )


def _rejects_table(facts: UsageFacts) -> Table:
    return Table(
        "Parts that could not be read",
        [
            Column("code"),
            Column("parts", is_number=True),
            Column("files", is_number=True),
            Column("for example"),
        ],
        [
            [row["code"] or UNKNOWN, number(row["rejects"]), number(row["files"]), row["example"] or ""]
            for row in facts.rejects
        ],
        "docs/lake.md explains the codes. Each with its file, line and byte:",
        "dsh-lake sql 'from rejects'",
    )


def _findings_table(facts: UsageFacts) -> Table:
    return Table(
        "Findings",
        [
            Column("code"),
            Column("severity"),
            Column("findings", is_number=True),
            Column("files", is_number=True),
            Column("first place"),
        ],
        [
            [
                row["code"],
                str(_SEVERITIES.get(row["severity"], row["severity"])),
                number(row["findings"]),
                number(row["files"]),
                row["example"] or UNKNOWN,
            ]
            for row in facts.findings
        ],
        "What, where, and what to do about it, for each:",
        "dsh-lake sql 'from findings'",
    )
