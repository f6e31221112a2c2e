"""Options that several commands share, each spelled once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.narration import narration


class DocumentFormat(StrEnum):
    """How one object is printed."""

    TABLE = "table"
    JSON = "json"


class RowFormat(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    NDJSON = "ndjson"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


def _be_quiet(value: bool) -> bool:
    narration.is_quiet = value or narration.is_quiet
    return value


def _be_verbose(value: bool) -> bool:
    narration.is_verbose = value or narration.is_verbose
    return value


LakeOption = Annotated[
    Path | None,
    typer.Option(
        "--lake",
        metavar="DIR",
        show_default=False,
        help="Folder of the lake. Default: $DSH_LAKE, else dsh-lake in your user data folder.",
    ),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="SCAN",
        show_default=False,
        help="Answer as after an earlier scan, by its scan_id. `dsh-lake sql 'from scans'` lists them.",
    ),
]
DocumentFormatOption = Annotated[
    DocumentFormat | None,
    typer.Option(
        "--format", show_default=False, help="table (the default) is for people, json for programs."
    ),
]
RowFormatOption = Annotated[
    RowFormat | None,
    typer.Option(
        "--format",
        show_default=False,
        help="Default: what the name given to -o says, else table. parquet needs -o.",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=0,
        show_default=False,
        help="Print the first N rows; 0 is all. Default: a page or two as a table, else all.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", show_default=False, help="Write to a file, not to stdout."
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        show_default=False,
        help="Processes that read. Default: one per processor, up to 4.",
    ),
]
TimeZoneOption = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        metavar="ZONE",
        show_default=False,
        help="Where days begin, such as Asia/Shanghai. Default: the zone of this machine.",
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        callback=_be_quiet,
        help="No progress and no notes on stderr, errors alone.",
        show_default=False,
    ),
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        callback=_be_verbose,
        help="Say more on stderr; after an error, where in the program it happened.",
        show_default=False,
    ),
]
