"""A progress bar on stderr while files are read, where stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from dsh_lake.cli.narration import narration


class Progress(NamedTuple):
    """What :func:`dsh_lake.scan` is to be given."""

    on_start: Callable[[int], None]
    on_read: Callable[[int], None]


@contextmanager
def reading_progress() -> Iterator[Progress]:
    """A bar of the bytes read; without a terminal, or where quiet was asked for, none."""
    if narration.is_quiet or not sys.stderr.isatty():
        yield Progress(lambda _: None, lambda _: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("reading", total=None)
        yield Progress(
            lambda total: bars.update(task, total=total), lambda size: bars.update(task, advance=size)
        )
