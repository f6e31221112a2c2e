"""``dsh-lake show``."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_lake.cli.options import (
    AsOfOption,
    DocumentFormatOption,
    LakeOption,
    OutputOption,
    QuietOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document


def show(
    ref: Annotated[
        str, typer.Argument(metavar="REF", help="FILE#L20, FILE#seq=17, SESSION#L20 or SESSION#seq=17.")
    ],
    lake: LakeOption = None,
    as_of: AsOfOption = None,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show one record in full: what does the log say here, and where exactly is it?

    L counts the lines of the decoded text; the header is line 1. A session is named by its id or the
    beginning of it, and looked up in the lake; a file needs no lake. `dsh-lake scan` names the places of
    its findings so that they can be given here.

    \b
    Examples:
      dsh-lake show ~/.dsh/sessions/--home-me--/session-1f0c/session.v4.jsonl.zstd#L12
      dsh-lake show 1f0c#seq=17
    """
    from dsh_lake.cli.record_text import record_text
    from dsh_lake.show import show as show_record

    print_document(show_record(ref, lake, as_of=as_of), output_format, output, record_text)
