"""Rows of ``scenarios``: what the manifests of fixture scenarios state."""

from __future__ import annotations

import json

from dsh_lake.fixtures.manifest import Header, Input, Manifest, Workspace
from dsh_lake.records.strict_json import without_surrogates
from dsh_lake.tables.place import Row

_NO_MANIFEST = (None,) * 25


def scenario_row(manifest: Manifest | None, fault: str | None, with_content: bool) -> Row:
    """The row of a manifest; all null but ``fault`` where the schema does not admit it."""
    if manifest is None:
        return (*_NO_MANIFEST, without_surrogates(fault or ""))
    header = manifest.header
    workspace = manifest.workspace or Workspace()
    given = manifest.input or Input()
    retained = manifest.session_format
    environment = manifest.environment
    return (
        manifest.version,
        manifest.scenario,
        manifest.profile,
        manifest.composition,
        manifest.recording,
        *_header_columns(header),
        manifest.replay is not None,
        manifest.platform,
        manifest.permission,
        _encoded(environment) if environment is not None and with_content else None,
        workspace.setup,
        workspace.final is True,
        workspace.parent,
        without_surrogates(given.task) if given.task is not None and with_content else None,
        len(given.attachments or ()),
        without_surrogates(manifest.session.source) if manifest.session is not None else None,
        retained.version if retained is not None else None,
        retained.coverage if retained is not None else None,
        None,
    )


def _header_columns(header: Header | None) -> Row:
    if header is None:
        return (None,) * 8
    return (
        header.class_,
        header.pin is True,
        header.system_prompt_source,
        header.tool_schemas_source,
        _storable(header.child_system_prompts or []),
        _storable(header.child_tool_schemas or []),
        *_storable([header.changes or 0, header.prompt_changes or 0]),
    )


def _storable(numbers: list[int]) -> list[int | None]:
    """Numbers as a column can hold them; a manifest may state any."""
    return [number if number < 2**63 else None for number in numbers]


def _encoded(environment: dict[str, str]) -> bytes:
    return json.dumps(environment).encode()
