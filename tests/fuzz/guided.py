"""One target under atheris: started by ``python -m tests.fuzz``, ended by the fuzzer."""

from __future__ import annotations

import sys


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["dsh_lake"]):
        from tests.fuzz.targets import TARGETS
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
