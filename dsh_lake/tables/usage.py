"""Rows of ``usage``: what each sample states, and which statements are no counts.

Source: session-archive.md section 8; interface.md, "Tokens".
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Raw

from dsh_lake.records.session import Usage, read_usage, token_count

Kind = Literal["message", "attempt", "compaction"]

REQUIRED = ("inputTokens", "outputTokens")
OPTIONAL = ("cacheReadTokens", "cacheWriteTokens", "reasoningTokens", "totalTokens")
_NONE: tuple[None, ...] = (None,) * 6


Asked = tuple[str | None, str | None, str | None]
"""Provider and model that a call was addressed to, and the model that answered where that is known."""


class Sample(NamedTuple):
    """Token counts of a sample in table order, and the names of those that are no counts."""

    counts: tuple[int | None, ...]
    bad: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether the required counts are numbers: without them a sample is not counted."""
        return not self.bad or not any(name in self.bad for name in REQUIRED)


def read_sample(raw: Raw) -> Sample:
    """A usage object as stated; an unusable optional count becomes null.

    Zeros without any cache count are how a runtime stores that the provider reported nothing: unknown,
    hence null.
    """
    usage = read_usage(raw)
    if not isinstance(usage, Usage):
        return _judge(usage)
    sent, given = usage.input_tokens, usage.output_tokens
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    if read is None and written is None and not sent and not given:
        return Sample(_NONE)
    return Sample((sent, given, read, written, usage.reasoning_tokens, usage.total_tokens))


def _judge(usage: dict[str, Any]) -> Sample:
    judged = {name: token_count(usage.get(name)) for name in (*REQUIRED, *OPTIONAL)}
    bad = [name for name, count in judged.items() if count == "bad"]
    bad += [name for name in REQUIRED if judged[name] is None]
    return Sample(tuple(count if isinstance(count, int) else None for count in judged.values()), tuple(bad))
