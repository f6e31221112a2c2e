"""What ``dsh-lake fixtures ...`` prints for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dsh_lake.terminal_text import terminal_text

if TYPE_CHECKING:
    from dsh_lake.fixtures.findings import Finding, FixtureCheck


def check_text(checked: FixtureCheck) -> str:
    """A line per finding, in the order of the checks, then the counts."""
    lines = [_finding(finding) for finding in checked.findings]
    if lines:
        lines.append("")
    faults = Counter(finding.severity for finding in checked.findings)
    verdict = "sound" if checked.is_sound else "not sound"
    lines.append(
        f"{len(checked.scenarios):,} scenarios: {verdict}, {faults['fail']:,} faults, "
        f"{faults['warn']:,} warnings"
    )
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding) -> str:
    place = terminal_text(finding.path) + (f"#L{finding.line}" if finding.line is not None else "")
    advice = f" ({terminal_text(finding.advice)})" if finding.advice is not None else ""
    return f"{place}: {finding.severity} {finding.code}: {terminal_text(finding.message)}{advice}"
