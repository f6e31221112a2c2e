"""The manifest of a fixture scenario, from the bytes on disk to its row of ``scenarios``.

A manifest is always read whole. One that the schema does not admit has a row as well, which says why.
"""

from __future__ import annotations

import re

from dsh_lake.errors import FixtureError, UnreadableSource
from dsh_lake.fixtures.manifest import MAX_BYTES, Manifest, parse_manifest
from dsh_lake.ingest.files import FileFacts, FileTask, facts_of_whole, stat_before_reading
from dsh_lake.ingest.state import FileState
from dsh_lake.tables.scenarios import scenario_row
from dsh_lake.tables.sink import RowSink

_QUOTED = re.compile(r"""\s*(?:"[^"]*"|!<.*>|(?<=field\(s\)):.*)""", re.DOTALL)
"""What a fault quotes of it: an alias, a tag, names of members. Text indented wrong may be one of them."""


def read_manifest_file(task: FileTask, sink: RowSink) -> FileFacts:
    """Read one manifest; its row goes to ``sink``.

    Raises:
        UnreadableSource: the operating system refuses to open or read the file.
    """
    status, is_racy = stat_before_reading(task.path)
    sink.mark((task.source_key, task.batch, False, False))
    try:
        with open(task.path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableSource(task.path, error.strerror or str(error)) from error
    manifest, fault = _parsed(content)
    if fault is not None and not sink.with_content:
        fault = _QUOTED.sub("", fault)
    sink.rows["scenarios"].append(scenario_row(manifest, fault, sink.with_content))
    state = FileState(encoding="plain", decoded_bytes=len(content), good_frame_bytes=len(content))
    return facts_of_whole(
        task.source_key,
        status,
        is_racy=is_racy,
        state=state,
        outcome="ok" if manifest is not None else "failed",
        code=None if manifest is not None else "manifest-invalid",
        message=fault,
        stated_version=None,
    )


def _parsed(content: bytes) -> tuple[Manifest | None, str | None]:
    """The manifest, or what is wrong with it, without the text around the place."""
    if len(content) > MAX_BYTES:
        return None, f"the manifest is larger than {MAX_BYTES} bytes"
    try:
        return parse_manifest(content.decode("utf-8", "replace")), None
    except FixtureError as error:
        return None, str(error).partition("\n")[0]
