"""How a run ends: the exit codes, and the one place that maps what happened to them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from enum import IntEnum

import typer

from dsh_lake.cli.narration import narration
from dsh_lake.errors import DshLakeError

PROGRAM = "dsh-lake"


class ExitCode(IntEnum):
    """What the status of the process says."""

    CLEAN = 0
    FAILED = 1
    """The command could not do its work: usage, nothing to read, lake busy or broken."""
    FINDINGS = 2
    """The work was done, and there is something to look at; only where a command says so."""
    INTERRUPTED = 130
    TERMINATED = 143


def run(arguments: Sequence[str]) -> int:
    """Run one command line; what went wrong is said on stderr.

    Returns:
        The exit code.
    """
    from dsh_lake.cli.app import app  # Its commands name the exit codes that they give.

    narration.is_quiet = narration.is_verbose = False
    try:
        code = app(list(arguments), prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        return int(code or ExitCode.CLEAN)
    except BaseException as error:
        return _code_of(error)


def end_on_sigterm() -> None:
    """Let a SIGTERM end this process as an interrupt does: what was begun is undone, workers are ended."""
    signal.signal(signal.SIGTERM, _terminated)


def _terminated(*_: object) -> None:
    raise SystemExit(ExitCode.TERMINATED)


def _code_of(error: BaseException) -> int:
    """Say what happened, and the exit code for it."""
    if _is_reader_gone(error):
        # Whoever reads our output, such as `head`, has enough of it. Nothing is left to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CLEAN
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else ExitCode.FAILED
    if isinstance(error, typer.TyperException):
        command = getattr(getattr(error, "ctx", None), "command_path", PROGRAM)
        narration.error(f"{error.format_message()}\nsee `{command} --help`", error)
    elif isinstance(error, DshLakeError):
        narration.error(str(error), error)
    elif isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        narration.error(f"{place}{error.strerror or error}", error)
    elif isinstance(error, MemoryError):
        narration.error("out of memory", error)
    else:
        narration.error(
            f"this is a fault of dsh-lake: {type(error).__name__}: {error} (--verbose says where)", error
        )
    return ExitCode.FAILED


def _is_reader_gone(error: BaseException | None) -> bool:
    """Whether the error is, or comes from, a broken pipe: one of stdout, since where another breaks we have
    an error of our own for it."""
    while error is not None and not isinstance(error, DshLakeError):
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__cause__ or error.__context__
    return False
