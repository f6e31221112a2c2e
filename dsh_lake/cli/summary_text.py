"""The summary of a scan for people: what is in there, what it took, and what could not be read."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dsh_lake.cli.layout import NOTHING, Column, table
from dsh_lake.cli.numbers import percent
from dsh_lake.quantities import counted, size
from dsh_lake.terminal_text import terminal_text

_PAGE = 100
_SHOWN_FINDINGS = 10
_BUCKETS = {
    "input": "input",
    "output": "output",
    "cache_read": "cache read",
    "cache_write": "cache write",
    "reasoning": "reasoning",
    "total": "total",
}
_KINDS = {"message": "answers", "attempt": "failed attempts", "compaction": "compactions"}
_CHANGES = ("new", "grown", "rewritten", "unchanged")
_NOT_COUNTED = {
    "superseded": ("older generation of a session", "older generations of a session"),
    "duplicate": ("copy of a session", "copies of a session"),
    "skipped": ("skipped", "skipped"),
    "failed": ("failed", "failed"),
}

Summary = Mapping[str, Any]


def summary_text(summary: Summary, width: int | None) -> str:
    """The object of ``scan --format json`` on a page."""
    page = width or _PAGE
    has_logs = summary["sources"]["found"] or not summary["cassettes"]
    sections = [
        [f"In {', '.join(map(terminal_text, summary['roots']))}:"],
        *([_what_happened(summary), _tokens(summary, width), _tools(summary, width)] if has_logs else []),
        [*(_files(summary, page) if has_logs else []), *_cassettes(summary), _lake(summary)],
        _findings(summary, page),
    ]
    return "\n".join("".join(f"{line}\n" for line in section) for section in sections if section)


# -- sections ----------------------------------------------------------------------------------------------


def _what_happened(summary: Summary) -> list[str]:
    calls, errors, interrupted = (summary[f"tool_{name}"] for name in ("calls", "errors", "interrupted"))
    ended = [f"{errors:,} failed ({percent(summary['tool_error_rate'])})" if errors else "none failed"]
    if interrupted:
        ended.append(f"{interrupted:,} interrupted")
    subagents = summary["subagent_sessions"]
    remembered = summary["remembered_sessions"]
    return _facts(
        ("sessions", summary["sessions"], [f"{subagents:,} of them sub-agents"] if subagents else []),
        (
            "human messages",
            summary["human_messages"],
            [f"of {counted(summary['user_messages'], 'user message')}"],
        ),
        ("assistant messages", summary["assistant_messages"], []),
        ("tool calls", calls, ended if calls else []),
        ("events", summary["events"], []),
        *(
            [("remembered sessions", remembered, ["in the lake too: gone from disk, or of other roots"])]
            if remembered
            else []
        ),
    )


def _facts(*facts: tuple[str, int, Sequence[str]]) -> list[str]:
    """Lines of a name, a count to the right, and remarks."""
    longest = max(len(name) for name, _, _ in facts)
    places = max(len(f"{count:,}") for _, count, _ in facts)
    return [
        f"{name:<{longest}}  {count:>{places},}" + (f"   {', '.join(remarks)}" if remarks else "")
        for name, count, remarks in facts
    ]


def _tokens(summary: Summary, width: int | None) -> list[str]:
    kinds = {name: summary["tokens_by_kind"][kind] for kind, name in _KINDS.items()}
    spent = {name: counts for name, counts in kinds.items() if any(counts.values())}
    rows = {**(spent if len(spent) > 1 else {}), "all": summary["tokens"]}
    columns = [
        Column("tokens", list(rows)),
        *(
            Column(heading, [f"{counts[bucket]:,}" for counts in rows.values()], is_number=True)
            for bucket, heading in _BUCKETS.items()
        ),
    ]
    share = summary["cache_read_share"]
    cached = (
        "no prompt tokens"
        if share is None
        else f"{percent(share)} of all prompt tokens were read from the cache"
    )
    return [*table(columns, width), cached]


def _tools(summary: Summary, width: int | None) -> list[str]:
    tools = summary["top_tools"]
    if not tools:
        return []
    columns = [
        Column("top tools", [terminal_text(tool["name"] or NOTHING) for tool in tools]),
        Column("calls", [f"{tool['calls']:,}" for tool in tools], is_number=True),
        Column("errors", [f"{tool['errors']:,}" for tool in tools], is_number=True),
        Column("error rate", [percent(tool["errors"] / tool["calls"]) for tool in tools], is_number=True),
    ]
    return table(columns, width)


def _files(summary: Summary, width: int) -> list[str]:
    sources = summary["sources"]
    changes = [f"{sources[name]:,} {name}" for name in _CHANGES if sources[name]]
    left_out = [counted(sources[name], *what) for name, what in _NOT_COUNTED.items() if sources[name]]
    lines = [f"{counted(sources['found'], 'file')}: {', '.join(changes) or 'nothing to read'}"]
    if left_out:
        lines.append(f"not counted: {', '.join(left_out)}")
    if sources["missing"]:
        lines.append(f"{counted(sources['missing'], 'file')} gone; what was read of them is remembered")
    frames = [counted(summary["frames"], "frame")]
    frames += [f"{summary['bad_frames']:,} of them damaged"] if summary["bad_frames"] else []
    frames += [f"{counted(summary['torn_tails'], 'file')} with a torn end"] if summary["torn_tails"] else []
    read = [counted(summary["lines"], "line")]
    read += [f"{summary['rejected_lines']:,} of them rejected"] if summary["rejected_lines"] else []
    read += (
        [f"{summary['recovered_lines']:,} more saved from torn ends"] if summary["recovered_lines"] else []
    )
    lines += [
        f"{size(summary['compressed_bytes'])} on disk, {size(summary['decoded_bytes'])} of text",
        f"{', '.join(frames)}; {', '.join(read)}",
    ]
    return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="  ")]


def _cassettes(summary: Summary) -> list[str]:
    calls = counted(summary["interactions"], "recorded call")
    return [f"{counted(summary['cassettes'], 'cassette')}: {calls}"] if summary["cassettes"] else []


def _lake(summary: Summary) -> str:
    about = f"scan {summary['scan_id']}, {summary['elapsed_s']:.1f} s"
    return f"lake: {terminal_text(summary['lake'])} ({about})"


def _findings(summary: Summary, width: int) -> list[str]:
    findings = summary["findings"]
    if not findings:
        return ["no findings: everything was read"]
    groups = Counter((finding["severity"], finding["code"]) for finding in findings)
    places = max(len(f"{count:,}") for count in groups.values())
    severities = Counter(finding["severity"] for finding in findings)
    by_severity = ", ".join(f"{count:,} {severity}" for severity, count in severities.items())
    lines = [f"{counted(len(findings), 'finding')}: {by_severity}"]
    order = list(severities)
    for (severity, code), count in sorted(
        groups.items(), key=lambda group: (order.index(group[0][0]), -group[1], group[0][1])
    ):
        lines.append(f"  {severity}  {count:>{places},} {code}")
    shown = findings[:_SHOWN_FINDINGS]
    lines += ["", "the first of them" if len(shown) < len(findings) else "each of them"]
    for finding in shown:
        lines += _finding(finding, width)
    if len(shown) < len(findings):
        lines.append(f"{len(findings) - len(shown):,} more: dsh-lake sql 'from findings'")
    return lines


def _finding(finding: Mapping[str, Any], width: int) -> Iterable[str]:
    position = finding["position"] or ""
    is_line = position.startswith("line ")
    where = f"#L{position.removeprefix('line ')}" if is_line else f" ({position})" if position else ""
    yield f"  {finding['severity']} {finding['code']}: {terminal_text(finding['path'] or NOTHING)}{where}"
    message = terminal_text(finding["message"])
    yield from textwrap.wrap(message, width, initial_indent="      ", subsequent_indent="      ")
