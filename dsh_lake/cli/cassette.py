"""``dsh-lake cassette ...``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsh_lake.cli.findings import print_report
from dsh_lake.cli.options import (
    DocumentFormat,
    DocumentFormatOption,
    JobsOption,
    OutputOption,
    QuietOption,
    VerboseOption,
)
from dsh_lake.cli.output import print_document, print_text

ORIGINAL_VERSION = "0.2.0"
"""The version of the tool whose words and verdicts these commands give."""

app = typer.Typer(name="cassette", invoke_without_command=True, rich_markup_mode=None)


class Duplicates(StrEnum):
    """What to do with calls that cannot be told apart and ended differently."""

    REJECT = "reject"
    SEQUENCE = "sequence"


class Storage(StrEnum):
    """What a cassette keeps of requests."""

    METADATA = "metadata"
    FULL = "full"


class VerifyFormat(StrEnum):
    """How a verification is printed."""

    TABLE = "table"
    JSON = "json"
    JUNIT = "junit"
    GITHUB = "github"
    SARIF = "sarif"


PathsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        show_default=False,
        help="Cassettes, folders (every *.cassette.jsonl below), or patterns such as 'tests/**/*.jsonl'.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ShowCallsOption = Annotated[bool, typer.Option("--show-calls", help="Print each call too.")]


@app.callback()
def cassette(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version of the original tool that is followed.")
    ] = False,
) -> None:
    """Recorded sub-agent calls: which cassettes are sound, which are ambiguous, what changed.

    Single files are answered in the words of dsh-subagent-cassette, with its exit codes: 0 sound or
    equivalent, 1 unreadable or invalid, 2 different. Of several files any invalid one gives 2.
    """
    if version and context.invoked_subcommand is None:
        typer.echo(ORIGINAL_VERSION)
    elif version:
        raise typer.BadParameter("--version stands alone")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(1)


@app.command(short_help="Which cassettes are sound, and what is wrong with the others?")
def verify(
    paths: PathsArgument,
    as_json: JsonOption = False,
    show_calls: Annotated[bool, typer.Option("--show-calls", hidden=True)] = False,
    all_findings: Annotated[
        bool, typer.Option("--all-findings", help="Print every fault, not only the first of each file.")
    ] = False,
    output_format: Annotated[
        VerifyFormat | None,
        typer.Option("--format", show_default=False, help="table is for people, the others for CI."),
    ] = None,
    output: OutputOption = None,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Check schema, digests and the whole hash chain of cassettes.

    What this proves: each record is what was written and follows the record before it. What it cannot: that
    nothing was cut off at the end.

    \b
    Examples:
      dsh-lake cassette verify run.cassette.jsonl
      dsh-lake cassette verify tests/fixtures --all-findings
      dsh-lake cassette verify tests/fixtures --format junit -o cassettes.xml
    """
    from dsh_lake.cassette.single import single_file

    file = single_file(paths)
    if file is not None and output_format is None and not all_findings:
        from dsh_lake.cassette import outputs

        return _print_original(outputs.verify(file, as_json=as_json), output)
    from dsh_lake.cassette.verification import verify as verify_cassettes
    from dsh_lake.cli import cassette_text

    verification = verify_cassettes(paths, jobs=jobs)
    chosen = output_format or (VerifyFormat.JSON if as_json else VerifyFormat.TABLE)
    if chosen in (VerifyFormat.TABLE, VerifyFormat.JSON):

        def render(_: object, width: int | None) -> str:
            return cassette_text.verification_text(verification, width, with_findings=all_findings)

        print_document(verification.document(), DocumentFormat(chosen), output, render)
    else:
        print_report(verification, chosen, output)
    return verification.exit_code


@app.command(short_help="What is in this cassette?")
def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A cassette.")],
    as_json: JsonOption = False,
    show_calls: ShowCallsOption = False,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Print metadata of a verified cassette; never what was asked or answered.

    \b
    Example:
      dsh-lake cassette inspect run.cassette.jsonl --show-calls
    """
    from dsh_lake.cassette import outputs

    return _print_original(outputs.inspect(file, as_json=as_json, show_calls=show_calls), output)


@app.command(short_help="What changed between two cassettes, or two folders of them?")
def diff(
    expected: Annotated[str, typer.Argument(metavar="EXPECTED", help="A cassette or a folder.")],
    actual: Annotated[str, typer.Argument(metavar="ACTUAL", help="The same of the other side.")],
    as_json: JsonOption = False,
    show_calls: ShowCallsOption = False,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Compare calls by identity and outcome; times are told and never count.

    \b
    Examples:
      dsh-lake cassette diff expected.cassette.jsonl actual.cassette.jsonl
      dsh-lake cassette diff last-night/ tonight/ --show-calls
    """
    from dsh_lake.cassette.single import is_folder

    as_json = as_json or output_format is DocumentFormat.JSON
    if not (is_folder(expected) or is_folder(actual)):
        from dsh_lake.cassette import outputs

        return _print_original(outputs.diff(expected, actual, as_json=as_json, show_calls=show_calls), output)
    from dsh_lake.cassette.tree_diff import diff_trees
    from dsh_lake.cli import cassette_text

    comparison = diff_trees(expected, actual, with_calls=show_calls, jobs=jobs)

    def render(_: object, width: int | None) -> str:
        return cassette_text.tree_diff_text(comparison, width)

    document = comparison.document(with_calls=show_calls)
    print_document(document, DocumentFormat.JSON if as_json else DocumentFormat.TABLE, output, render)
    return comparison.exit_code


@app.command(short_help="Which calls cannot be told apart although they ended differently?")
def ambiguity(
    paths: PathsArgument,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """List ambiguous groups, their calls, and in what the outcomes differ: fingerprints and metadata.

    \b
    Example:
      dsh-lake cassette ambiguity tests/fixtures
    """
    from dsh_lake.cassette.ambiguities import ambiguity as find_ambiguities
    from dsh_lake.cli import cassette_text

    found = find_ambiguities(paths, jobs=jobs)

    def render(_: object, width: int | None) -> str:
        return cassette_text.ambiguities_text(found, width)

    print_document(found.document(), output_format, output, render)
    return found.exit_code


@app.command(short_help="Would a replay answer these requests?")
def match(
    file: Annotated[str, typer.Argument(metavar="CASSETTE", help="A cassette.")],
    requests: Annotated[
        str, typer.Argument(metavar="REQUESTS.jsonl", help="One request a line, in the order of the calls.")
    ],
    duplicates: Annotated[
        Duplicates, typer.Option("--duplicates", help="What to do with an ambiguous cassette.")
    ] = Duplicates.REJECT,
    allow_redacted: Annotated[
        bool, typer.Option("--allow-redacted", help="Match although results were redacted.")
    ] = False,
    output_format: DocumentFormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Match requests against a cassette offline, as a replay would, and say which calls nobody asked for.

    A request is a JSON object {op: match|diagnose, parentKey, parentContextFingerprint, requestFingerprint,
    requestMetadata?}; diagnose consumes nothing.

    \b
    Example:
      dsh-lake cassette match run.cassette.jsonl requests.jsonl --format json
    """
    from dsh_lake.cassette.offline import match as match_requests
    from dsh_lake.cli import cassette_text

    matching = match_requests(file, requests, duplicates=duplicates, allow_redacted=allow_redacted)

    def render(_: object, width: int | None) -> str:
        return cassette_text.matching_text(matching)

    print_document(matching.document(), output_format, output, render)
    return matching.exit_code


@app.command("from-sessions", short_help="Make cassettes of past sessions with sub-agents.")
def from_sessions(
    roots: Annotated[
        list[Path],
        typer.Argument(
            metavar="ROOT", show_default=False, help="DSH homes, other folders, or session files."
        ),
    ],
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", show_default=False, help="Folder for the cassettes."),
    ],
    storage: Annotated[
        Storage, typer.Option("--storage", help="What to keep of requests: metadata, or all of it, redacted.")
    ] = Storage.METADATA,
    output_format: DocumentFormatOption = None,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Write one cassette for each top-level session and provider of sub-agents, as far as archives tell.

    What an archive does not say is left out, never made up: such cassettes bear the provider names
    dsh-lake and archive:<provider>. They hold answers of sub-agents, with known kinds of secrets replaced.

    \b
    Example:
      dsh-lake cassette from-sessions ~/.dsh -o tests/fixtures
    """
    from dsh_lake.cassette.derived import from_sessions as derive
    from dsh_lake.cli import cassette_text

    derived = derive(roots, folder, storage=storage.value, jobs=jobs)

    def render(_: object, width: int | None) -> str:
        return cassette_text.derived_text(derived)

    print_document(derived.document(), output_format, None, render)
    return 0 if derived.cassettes else 1


def _print_original(result: tuple[int, Iterable[str], str], output: Path | None) -> int:
    """Print what the original prints, on the streams where it does."""
    code, pieces, message = result
    if message:
        sys.stderr.buffer.write(message.encode())
        sys.stderr.buffer.flush()
    else:
        print_text(pieces, output)
    return code
