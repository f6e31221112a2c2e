"""What a report is made of, whatever was checked: remarks, and the cases that they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol


class Remark(Protocol):
    """One thing that is wrong (``fail``) or doubtful (``warn``); the line is that of the file, from 1. There
    is no path where no file is at fault."""

    @property
    def path(self) -> str | None: ...
    @property
    def severity(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def physical_line(self) -> int | None: ...


class Case(Protocol):
    """One thing that was checked; ``status`` is sound, invalid or unreadable, ``code`` its first fault."""

    @property
    def path(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def code(self) -> str | None: ...
    @property
    def message(self) -> str | None: ...


class Report(Protocol):
    """Everything that a check found."""

    @property
    def suite(self) -> str:
        """What is checked, in the plural."""

    @property
    def remarks(self) -> Sequence[Remark]: ...

    def by_case(self) -> Iterable[tuple[Case, Sequence[Remark]]]:
        """Each case with its remarks."""
