"""Prompts and tool schemas of a run, spelled as the sidecars of a pin, so that the two can be compared.

The rule: logs are compared with tokens in the place of prompts and schemas; what stands behind the tokens is
compared here, where the fixture keeps it.

Source: spec/snapshot-kit.md section 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dsh_lake.fixtures.rows import Record, iter_rows
from dsh_lake.fixtures.sidecars import PROMPT, SCHEMAS, child_prompt, child_schemas, laid_out
from dsh_lake.fixtures.strings import SYSTEM_TOKEN, Normalizer


def sidecars_of(logs: Sequence[str], normalizer: Normalizer) -> dict[str, str]:
    """The sidecars that the logs of a run would have, by file name; without those that they say nothing of.

    Args:
        logs: complete logs of today's generation, parent first.
        normalizer: takes out what belongs to the run.

    Raises:
        FixtureError: a line is no JSON object.
    """
    found = {}
    for ordinal, log in enumerate(logs):
        records = [row.record for row in iter_rows(log)]
        prompts, sets = list(_prompts(records)), list(_schemas(records))
        if prompts and SYSTEM_TOKEN not in prompts:
            name = child_prompt(ordinal) if ordinal else PROMPT
            found[name] = _joined([normalizer.text(prompt) for prompt in prompts])
        if sets and all(isinstance(tools, list) for tools in sets):
            value = normalizer.value({"initial": sets[0], "changes": sets[1:]})
            found[child_schemas(ordinal) if ordinal else SCHEMAS] = laid_out(value) + "\n"
    return found


def sidecar_names(roles: int) -> set[str]:
    """The file names that sidecars of so many roles may have."""
    children = range(1, roles)
    return {PROMPT, SCHEMAS, *map(child_prompt, children), *map(child_schemas, children)}


def _joined(prompts: Sequence[str]) -> str:
    first, *later = prompts
    changes = (
        f"\n<!-- system/message change {number} -->\n\n{prompt}\n"
        for number, prompt in enumerate(later, start=1)
    )
    return "".join([f"{first}\n", *changes])


def _prompts(records: Sequence[Record]) -> Iterator[str]:
    for record in records:
        content = _member(_member(record.get("data"), "message"), "content")
        block = content[0] if isinstance(content, list) and content else None
        text = _member(block, "text")
        if record.get("type") == "system/message" and isinstance(text, str):
            yield text


def _schemas(records: Sequence[Record]) -> Iterator[Any]:
    """The tools of each request header but those that only go on in a series."""
    for record in records:
        data = record.get("data")
        if record.get("type") == "request/header" and _member(data, "reason") != "series":
            yield _member(_member(data, "header"), "tools")


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
