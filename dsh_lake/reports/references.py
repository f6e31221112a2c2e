"""How a reader of a page gets from a row to the record behind it: a command to be copied, never a link that
runs."""

from __future__ import annotations

import shlex


def show_command(session_id: str | None, place: str) -> str:
    """The command that shows a record of a session; nothing where the session has no id.

    >>> show_command("session-1", "L1")
    "dsh-lake show 'session-1#L1'"
    """
    if not session_id:
        return ""
    reference = f"{session_id}#{place}"
    quoted = shlex.quote(reference)
    return f"dsh-lake show {quoted if quoted != reference else repr(reference)}"
