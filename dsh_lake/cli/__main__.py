"""The entry point of ``dsh-lake``, also as ``python -m dsh_lake.cli``."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from dsh_lake.cli.exits import end_on_sigterm, run

    end_on_sigterm()
    code = run(sys.argv[1:])
    # What remains is to free the engines' memory, piece by piece: the system frees it at once.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
