"""Run the targets under a coverage-guided fuzzer, for as long as there is time.

    python -m tests.fuzz [--target T] [--minutes 60] [--corpus DIR]

Needs the extra ``fuzz`` (atheris). Without ``--target`` the time is divided among all targets. What breaks a
law is kept as a file below the corpus and named at the end, with exit code 2; ``python -m tests.fuzz
--target T FILE`` tries such a file again, without the fuzzer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

# The helpers of the tests name each other without their package.
sys.path.append(str(Path(__file__).parent.parent))

NAMES = (
    "frames",
    "archives",
    "lines",
    "sessions",
    "canonical",
    "cassettes",
    "manifests",
    "fixture-logs",
    "names",
)
SECONDS_PER_INPUT = 120
MEMORY_MB = 4096
LONGEST_BYTES = 64 << 10


def main() -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=about)
    parser.add_argument("--target", choices=NAMES, help="default: all of them, one after another")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--corpus", type=Path, help="where inputs are kept; default: a new temporary folder")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="try these and nothing else")
    arguments = parser.parse_args()
    if arguments.files:
        return _try(arguments.target, arguments.files)
    if find_spec("atheris") is None:
        print("needs atheris: pip install -e '.[fuzz]'", file=sys.stderr)
        return 1
    corpus = arguments.corpus or Path(tempfile.mkdtemp(prefix="dsh-lake-fuzz-"))
    chosen = (arguments.target,) if arguments.target else NAMES
    broken = [name for name in chosen if not _fuzz(name, corpus / name, 60 * arguments.minutes / len(chosen))]
    for name in broken:
        for path in sorted((corpus / name).glob("found-*")):
            print(f"{name}: {path}")
    return 2 if broken else 0


def _try(name: str | None, files: list[Path]) -> int:
    from tests.fuzz.targets import TARGETS

    for path in files:
        for target in (name,) if name else NAMES:
            TARGETS[target](path.read_bytes())
    return 0


def _fuzz(name: str, folder: Path, seconds: float) -> bool:
    """Fuzz one target in a process of its own, which the fuzzer ends; whether all was well."""
    from tests.fuzz.seeds import seeds, words

    inputs = folder / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(name)):
        (inputs / f"seed-{number:04}").write_bytes(seed)
    (folder / "words").write_text(
        "".join('"' + "".join(f"\\x{octet:02x}" for octet in word) + '"\n' for word in words())
    )
    options = {
        "max_total_time": max(1, round(seconds)),
        "max_len": LONGEST_BYTES,
        "timeout": SECONDS_PER_INPUT,
        "rss_limit_mb": MEMORY_MB,
        "dict": folder / "words",
        "artifact_prefix": f"{folder}/found-",
        "print_final_stats": 1,
        "verbosity": 1,
    }
    command = [sys.executable, "-m", "tests.fuzz.guided", name, str(inputs)]
    command += [f"-{option}={value}" for option, value in options.items()]
    print(f"{name}: {seconds:.0f} s", flush=True)
    return subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
