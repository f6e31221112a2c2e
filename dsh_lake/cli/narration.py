"""What is said on stderr: notes, errors, and how much of either the user wants."""

from __future__ import annotations

import re
import sys
import traceback

from dsh_lake.terminal_text import terminal_lines

_COMMAND = re.compile(r"^(\s*)(?=::|##(?:\[|vso))", re.M)
"""Before what CI takes for a command, on any stream: a name with a line end in it can give one."""


class Narration:
    """The voice of one run of the command line."""

    def __init__(self) -> None:
        self.is_quiet = False
        self.is_verbose = False

    def note(self, text: str) -> None:
        """Something worth knowing about the result."""
        if not self.is_quiet:
            self._say(text)

    def detail(self, text: str) -> None:
        """Something for those who want to know more."""
        if self.is_verbose:
            self._say(text)

    def error(self, message: str, error: BaseException) -> None:
        """Why the command could not do its work; where in the program, if asked."""
        if self.is_verbose:
            self._say("".join(traceback.format_exception(error)).rstrip())
        self._say(f"error: {message}")

    @staticmethod
    def _say(text: str) -> None:
        line = _COMMAND.sub(r"\1\\", f"{terminal_lines(text)}\n")
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()


narration = Narration()
"""The one of this process; :func:`dsh_lake.cli.exits.run` begins it anew."""
