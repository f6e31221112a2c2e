"""What ``dsh-lake cassette ...`` prints for people about several cassettes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dsh_lake.cli.layout import NOTHING, Column, table
from dsh_lake.terminal_text import terminal_text

if TYPE_CHECKING:
    from dsh_lake.cassette.ambiguities import Ambiguities
    from dsh_lake.cassette.derived import Derived
    from dsh_lake.cassette.offline import Matching
    from dsh_lake.cassette.tree_diff import PairDiff, TreeDiff
    from dsh_lake.cassette.verification import Finding, Verification


def verification_text(verification: Verification, width: int | None, *, with_findings: bool) -> str:
    """One row per cassette, then every finding if asked for, then the counts."""
    cassettes = verification.cassettes
    columns = [
        Column("verdict", [one.status for one in cassettes]),
        Column("calls", [_count(one.interactions) for one in cassettes], is_number=True),
        Column("ambiguous", [_count(one.ambiguous_groups) for one in cassettes], is_number=True),
        Column("faults", [_count(one.faults) for one in cassettes], is_number=True),
        Column("cassette", [terminal_text(one.path) for one in cassettes]),
        Column("first fault", [terminal_text(one.message or "") for one in cassettes]),
    ]
    lines = table(columns, width) if cassettes else []
    if with_findings and verification.findings:
        lines += ["", *map(_finding, verification.findings)]
    states = [f"{verification.count(status):,} {status}" for status in ("sound", "invalid", "unreadable")]
    return _joined([*lines, "", f"{len(cassettes):,} cassettes: {', '.join(states)}"])


def _finding(finding: Finding) -> str:
    place = terminal_text(finding.path) + (f"#L{finding.line}" if finding.line is not None else "")
    return f"{place}: {finding.severity} {finding.code}: {terminal_text(finding.message)}"


def tree_diff_text(comparison: TreeDiff, width: int | None) -> str:
    """One row per path, then the single changes where they were kept, then the verdict."""
    pairs = comparison.pairs
    columns = [
        Column("verdict", [pair.status for pair in pairs]),
        *(
            Column(change, [_count(getattr(pair, change)) for pair in pairs], is_number=True)
            for change in ("added", "removed", "outcome", "boundary", "timing")
        ),
        Column("cassette", [terminal_text(pair.path) for pair in pairs]),
        Column("why", [_why(pair) for pair in pairs]),
    ]
    lines = table(columns, width)
    for pair in pairs:
        if pair.calls:
            lines += ["", terminal_text(pair.path), *map(_change, pair.calls)]
    equal = sum(pair.status == "equivalent" for pair in pairs)
    verdict = "equivalent" if comparison.is_equivalent else "different"
    return _joined([*lines, "", f"{verdict}: {equal:,} of {len(pairs):,} cassettes are equivalent"])


def _why(pair: PairDiff) -> str:
    reasons = [*pair.issues, *(f"policy {name}" for name in pair.policy_changes)]
    if pair.message is not None:
        reasons.append(pair.message)
    return terminal_text(", ".join(reasons))


_SIGNS = {"added": "+", "removed": "-", "outcome": "~", "boundary": "~", "timing": "="}


def _change(row: Mapping[str, Any]) -> str:
    change = row["change"]
    about = {
        "added": row["actual_ending"],
        "removed": row["expected_ending"],
        "outcome": f"outcome {row['expected_ending']} -> {row['actual_ending']}",
        "boundary": f"boundary {row['what']}",
        "timing": "timing",
    }[change]
    if change == "timing":
        about += f" start {row['start_latency_delta_ms']:+.1f}ms, duration {row['duration_delta_ms']:+.1f}ms"
    return f"  {_SIGNS[change]} {terminal_text(row['call_key'])}  {about}"


def ambiguities_text(found: Ambiguities, width: int | None) -> str:
    """A block per group: what its calls share, in what their outcomes differ, and the calls."""
    lines: list[str] = []
    for group in found.groups:
        differs = ", ".join(group["differs"]) or "content alone"
        lines.append(
            f"{terminal_text(group['path'])}: {group['calls']} calls of parent "
            f'"{terminal_text(group["parent_key"])}", {group["outcomes"]} outcomes, which differ in {differs}'
        )
        lines += [f"  {line}" for line in _members(group["members"], width)] + [""]
    for judged in found.refused:
        lines.append(f"{terminal_text(judged.path)}: {judged.status}: {terminal_text(judged.message or '')}")
    return _joined([*lines, f"{len(found.groups):,} ambiguous groups in {found.cassettes:,} cassettes"])


def _members(members: Iterable[Mapping[str, Any]], width: int | None) -> list[str]:
    rows = list(members)
    columns = [
        Column("line", [str(row["line"]) for row in rows], is_number=True),
        Column("sequence", [_count(row["sequence"]) for row in rows], is_number=True),
        Column("call", [terminal_text(row["call_key"] or NOTHING) for row in rows]),
        Column("ended", [row["stop_reason"] or row["outcome_kind"] or NOTHING for row in rows]),
        Column("error", [terminal_text(row["error_code"] or row["error_name"] or "") for row in rows]),
        Column("redactions", [_count(row["redactions"]) for row in rows], is_number=True),
        Column("outcome", [(row["outcome_fingerprint"] or NOTHING)[:19] for row in rows]),
    ]
    return table(columns, None if width is None else width - 2)


def matching_text(matching: Matching) -> str:
    """A line per request, then what nobody asked for."""
    lines = [_step(number, step) for number, step in enumerate(matching.steps, 1)]
    verdict = matching.assert_consumed["message"] if matching.assert_consumed else "all calls were consumed"
    lines.append(f"{len(matching.steps):,} requests, {matching.mismatches:,} mismatches")
    return _joined([*lines, terminal_text(verdict)])


def _step(number: int, step: Mapping[str, Any]) -> str:
    if "matched" in step:
        return f"{number:4}  match  {terminal_text(step['matched']['callKey'])}"
    if "error" in step:
        return f"{number:4}  mismatch  {terminal_text(step['error']['message'])}"
    diagnostic = step["diagnostic"]
    if diagnostic["status"] == "match":
        return f"{number:4}  would match  {terminal_text(diagnostic['candidate']['callKey'])}"
    near = ", ".join(terminal_text(candidate["callKey"]) for candidate in diagnostic["candidates"][:3])
    return f"{number:4}  would not match  {diagnostic['reason']}: {near or 'no call comes near'}"


def derived_text(derived: Derived) -> str:
    """A line per cassette, then what is in none."""
    lines = [f"{calls:6,} calls  {terminal_text(path)}" for path, calls in derived.cassettes.items()]
    lines += [f"left out: {terminal_text(one.session_id)}: {one.reason}" for one in derived.left_out]
    return _joined([*lines, f"{len(derived.cassettes):,} cassettes"])


def _count(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
