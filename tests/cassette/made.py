"""Cassettes made for tests, by the writer, from descriptions of calls; and a provider to record."""

from __future__ import annotations

from hypothesis import strategies as st

from dsh_lake.canonical import canonical_text, digest, parse_json
from dsh_lake.cassette import CassetteWriter, new_header
from dsh_lake.cassette.identity import Parent, call_key, parent_context_fingerprint, request_metadata

CAPABILITIES = {"outputSchema": True, "depthLimit": False, "toolFilter": True, "persona": False}
CONTEXT = parent_context_fingerprint(Parent("any").context())

units = st.text(st.characters(exclude_categories=[]), max_size=8)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False).map(
    lambda x: x + 0.0
)
extensions = st.recursive(
    st.none() | st.booleans() | numbers | units,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(units, inner, max_size=3),
    max_leaves=6,
)
blocks = st.recursive(
    st.builds(lambda text: {"type": "text", "text": text}, units)
    | st.builds(lambda kind, more: {"type": f"x-{kind}", "more": more}, units, extensions)
    | st.builds(lambda a: {"type": "tool-call", "id": "c", "name": "n", "arguments": a}, units),
    lambda inner: st.builds(
        lambda content: {"type": "tool-result", "toolCallId": "c", "content": content},
        st.lists(inner, max_size=3),
    ),
    max_leaves=4,
)
outcomes = st.builds(
    lambda output, reason, redactions, more: {
        "kind": "result",
        "redactions": redactions,
        "result": {**more, "output": output, "stopReason": reason},
    },
    st.lists(blocks, max_size=3),
    st.sampled_from(["completed", "aborted", "error", ""]) | units,
    st.integers(0, 3),
    st.dictionaries(st.sampled_from(["usage", "\ue000", "\U0001f600", "1"]), extensions, max_size=2),
) | st.builds(
    lambda kind, name, message: {"kind": kind, "error": {"name": f"E{name}", "message": message}},
    st.sampled_from(["start-error", "result-error"]),
    units,
    units,
)
requests = st.fixed_dictionaries(
    {"prompt": st.lists(blocks, max_size=2)},
    optional={
        "label": units,
        "maxDepth": st.integers(0, 9),
        "agentOptions": st.dictionaries(units, extensions),
    },
)
calls = st.tuples(requests, outcomes, st.sampled_from(["root", "root/a~1", "\U0001f600", "\ue000"]))


def bodies(described, storage="metadata"):
    """Interaction bodies for (request, outcome, parent key) triples, numbered in this order."""
    seen: dict[tuple[str, str], int] = {}
    for sequence, (request, outcome, parent) in enumerate(described, 1):
        request = parse_json(canonical_text(request))
        fingerprint = digest(request)
        occurrence = seen[parent, fingerprint] = seen.get((parent, fingerprint), 0) + 1
        full = {"storage": "full", "value": request, "redactions": 0}
        view = {"storage": "metadata", "metadata": request_metadata(request)}
        published = outcome["kind"] != "start-error"
        yield {
            "kind": "cassette/interaction",
            "sequence": sequence,
            "callKey": call_key(parent, request.get("label"), CONTEXT, fingerprint, occurrence),
            "parentKey": parent,
            "parentContextFingerprint": CONTEXT,
            "occurrence": occurrence,
            "requestFingerprint": fingerprint,
            "request": full if storage == "full" else view,
            "timing": {"startedAt": "then", "startLatencyMs": 1.5, "durationMs": 1.5 + sequence / 8},
            "published": published,
            "local": published and sequence % 2 == 0,
            "outcome": outcome,
        }


def header(**policy):
    """A header record under the default policy but for ``policy``."""
    default = {"provider": "cassette", "upstream": "spawn", "inherits_parent_context": False}
    return new_header(**{**default, "capabilities": CAPABILITIES, **policy})


def write(path, interactions, storage="metadata"):
    """Write a cassette of these bodies, in this order, and give its path."""
    with CassetteWriter(path, header(request_storage=storage), "truncate") as writer:
        for body in interactions:
            writer.append(body)
    return path
