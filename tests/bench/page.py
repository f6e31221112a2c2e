"""Run a benchmark and put what it prints into its section of BENCHMARKS.md, with date, versions and machine.

    python tests/bench/page.py scan [OPTION ...]

The section is what stands between ``<!-- scan -->`` and ``<!-- /scan -->``. Names of hosts and paths are kept
out of it: an argument that is a path is shown as PATH.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

BENCHES = Path(__file__).parent
PAGE = BENCHES.parents[1] / "BENCHMARKS.md"
_LIBRARIES = ("duckdb", "pyarrow", "zstandard", "msgspec", "deltalake")


def heading(name: str, arguments: list[str], load: float) -> str:
    """When, with what and where a section was measured."""
    shown = " ".join(["python", f"tests/bench/{name}.py", *map(_without_path, arguments)])
    libraries = ", ".join(f"{library} {version(library)}" for library in _LIBRARIES)
    commit = subprocess.run(
        ["git", "-C", str(BENCHES), "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    return (
        f"{datetime.date.today()}, `{shown}`; dsh-lake {version('dsh-lake')}"
        f"{f' at {commit}' if commit else ''}, Python {platform.python_version()}, {libraries}; "
        f"{os.cpu_count()} cores ({_processor()}), {platform.system()} {platform.machine()}, "
        f"load before it {load:.1f}."
    )


def _without_path(argument: str) -> str:
    return "PATH" if os.sep in argument else argument


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or "unknown"
    models = [line.partition(":")[2].strip() for line in facts.splitlines() if line.startswith("model name")]
    return models[0] if models else "unknown"


def with_section(page: str, name: str, text: str) -> str:
    """The page with another text between the marks of a section.

    Raises:
        SystemExit: the page has no such section.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, mark, rest = page.partition(begin)
    _, end_mark, after = rest.partition(end)
    if not mark or not end_mark:
        sys.exit(f"{PAGE.name} has no section {name}")
    return f"{before}{begin}\n{text.strip()}\n{end}{after}"


def main() -> None:
    """Run the benchmark that is named and rewrite its section."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    name, *arguments = sys.argv[1:]
    about = heading(name, arguments, os.getloadavg()[0])
    with_section(PAGE.read_text(encoding="utf-8"), name, "")  # refuse before, not after
    bench = [sys.executable, str(BENCHES / f"{name}.py"), *arguments]
    printed = subprocess.run(bench, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout
    page = with_section(PAGE.read_text(encoding="utf-8"), name, f"{about}\n\n{printed}")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
