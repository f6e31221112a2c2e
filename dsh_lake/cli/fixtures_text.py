"""What ``dsh-lake fixtures ...`` prints for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dsh_lake.cli.output import opened
from dsh_lake.errors import UsageError
from dsh_lake.terminal_text import terminal_json, terminal_text

if TYPE_CHECKING:
    from dsh_lake.fixtures.findings import FixtureCheck, FixtureFinding


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


def _finding(finding: FixtureFinding) -> str:
    place = terminal_text(finding.path) + (f"#L{finding.line}" if finding.line is not None else "")
    advice = f" ({terminal_text(finding.advice)})" if finding.advice is not None else ""
    return f"{place}: {finding.severity} {finding.code}: {terminal_text(finding.message)}{advice}"


def logs_text(document: dict[str, list[str]], width: int | None) -> str:
    """Normalised logs, one after the other: each begins with its header."""
    text = "".join(document["logs"])
    return text if width is None else terminal_json(text)


def write_logs(texts: Sequence[str], folder: Path, inputs: Sequence[Path]) -> None:
    """Write normalised logs as the session files of a scenario: the parent, then children by ordinal.

    Raises:
        UsageError: one of them would take the place of a log that was read.
    """
    paths = [
        folder / ("session.jsonl" if not index else f"session.{index}.jsonl") for index in range(len(texts))
    ]
    for path in paths:
        if path.exists() and any(path.samefile(one) for one in inputs):
            raise UsageError(f"{path} was read: choose another folder with -o")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in zip(paths, texts, strict=True):
        with opened(path) as target:
            target.sink.write(text.encode())
