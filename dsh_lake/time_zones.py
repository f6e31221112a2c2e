"""Names of time zones."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from dsh_lake.errors import UsageError


def check_zone(time_zone: str) -> None:
    """Refuse what is no name of a zone.

    Raises:
        UsageError: it is none.
    """
    try:
        ZoneInfo(time_zone)
    except (ValueError, OSError, KeyError) as error:
        raise UsageError(f"{time_zone!r} is no time zone such as UTC or Asia/Shanghai") from error
