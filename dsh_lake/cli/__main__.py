"""The entry point of ``dsh-lake``, also as ``python -m dsh_lake.cli``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from dsh_lake.cli.exits import end_on_sigterm, run

    end_on_sigterm()
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
