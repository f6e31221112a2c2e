"""What becomes of each column of a lake that is made to be shared: declared for every column, by name.

The rule: a column that is not listed here cannot be exported. Numbers, flags and times stay; so do names that
are the subject of every question (tools, models, providers, types of events, codes of errors). Ids and paths
are replaced by keyed digests, the same everywhere, so that tables join as before; texts by their length and
digest. Words of a closed vocabulary stay, any other word in their place is replaced as an id is: groups
remain groups.

The expressions are DuckDB's, on macros that :mod:`dsh_lake.shared_lake` defines.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from dsh_lake.errors import SchemaError
from dsh_lake.schemas import STORED, TABLES


class Treatment(StrEnum):
    """What is written in the place of a value; null stays null. The values are SQL over the column ``{}``."""

    KEEP = '"{}"'
    """A number, a flag, a time, or a word that this package chose: as it is."""
    NAME = 'kept_name("{}")'
    """Of a tool, model, provider, type, error: as it is where it looks like one, else as an id."""
    WORD = 'kept_word("{}")'
    """A word of the producer's vocabulary: as it is where it is one of :data:`WORDS`, else as an id."""
    ID = 'hashed("{}")'
    """An id or a digest: its keyed digest. Plain digests tell whoever can guess what they stand for."""
    IDS = 'list_transform("{}", lambda one: kept_word(one))'
    """A list of words."""
    PATH = 'hashed_path("{}")'
    """A path: each folder as an id, so that files of a folder still share it; the names of logs stay."""
    CLOCK = 'kept_clock("{}")'
    """A time as somebody spelled it: as it is where it is one, else as an id."""
    TEXT = 'masked("{}")'
    """Free text: how many characters, and its keyed digest."""
    DATA = "masked_data(type, data)"
    """Data of an event: JSON of its length and digest, and of what :data:`DATA_MEMBERS` lists."""
    PREFIX = """'{{"masked":{{"prefix":"' || masked("{}") || '","text":'"""
    """What stands before the text of a packed event, so that both together are JSON."""
    TEXTS = """list_transform("{}", lambda one: '"' || masked(one) || '"')"""
    """The texts of packed events, each a JSON string."""
    NOTES = 'masked_notes("{}")'
    """The remarks on a file: JSON, in which the message alone is text."""
    RANK = "row_number() over (order by root_rank, path)"
    """The order in which copies of a session compete, which the paths no longer tell."""
    ROOTS = "list of paths"
    COUNTS = "JSON of numbers, with texts masked"
    NULL = "null"
    """Of use on the machine that scanned alone."""
    ANEW = "written by the export itself"
    DERIVED = "made of treated columns by the queries of the lake"


K, N, W, I = Treatment.KEEP, Treatment.NAME, Treatment.WORD, Treatment.ID  # noqa: E741
_ROW = "source_key batch is_tail is_recovered"
_EVENT = f"{_ROW} line seq at turn step"
_DERIVED = "source_id session_id is_inherited"

_DECLARED: Mapping[str, Mapping[Treatment, str]] = {
    "scans": {
        K: "scan_id batch action started_at elapsed_s schema_version",
        Treatment.ROOTS: "roots",
        Treatment.COUNTS: "counts",
        Treatment.ANEW: "table_versions has_content",
    },
    "sources": {
        K: "source_key kind encoding generation format_version size_bytes modified_at decoded_bytes frames "
        "bad_frames skippable_frames good_frame_bytes bad_frame_bytes skippable_bytes unframed_bytes "
        "torn_tail_bytes lines recovered_lines rejected_lines events created_at delegation_depth is_seeded "
        "inherited_events first_event_at last_event_at state missing_since inherited_cut first_batch "
        "has_repeated_calls last_batch mtime_ns is_racy",
        N: "code",
        W: "origin",
        I: "source_id session_id workspace parent_session_id agent_preset prefix_sha256",
        Treatment.PATH: "root path cwd",
        Treatment.TEXT: "title message",
        Treatment.NOTES: "notes",
        Treatment.RANK: "root_rank",
        Treatment.NULL: "ctime_ns inode resume",
        Treatment.DERIVED: "status is_counted",
    },
    "sessions": {
        Treatment.DERIVED: "session_id source_id format_version created_at cwd workspace parent_session_id "
        "root_session_id origin delegation_depth agent_preset is_seeded inherited_events title "
        "first_event_at last_event_at",
    },
    "events": {
        K: f"{_EVENT} frame members packed_offsets_ms",
        N: "type",
        Treatment.DATA: "data",
        Treatment.PREFIX: "packed_prefix",
        Treatment.TEXTS: "packed_texts",
        Treatment.DERIVED: _DERIVED,
    },
    "messages": {
        K: f"{_EVENT} is_human is_replacement text_chars reasoning_chars tool_call_count image_count "
        "is_interrupted first_chunk_at",
        W: "role source_kind",
        N: "model",
        I: "message_id",
        Treatment.DERIVED: _DERIVED,
    },
    "usage": {
        K: f"{_EVENT} kind input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens "
        "total_tokens replaces_line replaces_seq",
        N: "provider model served_model",
        Treatment.DERIVED: f"{_DERIVED} is_replaced",
    },
    "tool_results": {
        K: f"{_EVENT} status result_chars exit_code is_replacement",
        N: "error_name error_code",
        I: "call_id",
        Treatment.DERIVED: _DERIVED,
    },
    "tool_calls": {
        K: _EVENT,
        N: "name model",
        I: "call_id arguments_sha256",
        Treatment.TEXT: "arguments",
        Treatment.DERIVED: f"{_DERIVED} called_at result_line result_seq result_at duration_ms status "
        "error_name error_code result_chars exit_code call_number",
    },
    "event_facts": {
        K: f"{_EVENT} is_replacement http_status ordinal delay_ms exit_code tokens first_seq last_seq "
        "started_at finished_at",
        N: "type name code provider model",
        W: "outcome cause",
        I: "subject_id call_id tools_sha256 prompt_sha256",
        Treatment.DERIVED: _DERIVED,
    },
    "cassettes": {
        K: f"{_ROW} inherits_parent_context redact_secrets physical_line",
        N: "target provider_cassette provider_upstream",
        W: "request_storage",
        I: "cassette_id stated_sha256 computed_sha256",
        Treatment.CLOCK: "created_at",
        Treatment.TEXT: "capabilities redaction_patterns",
        Treatment.DERIVED: "source_id path",
    },
    "interactions": {
        K: f"{_ROW} line sequence occurrence prompt_blocks prompt_bytes start_latency_ms duration_ms "
        "published is_local redactions physical_line byte_offset",
        N: "error_name error_code",
        W: "request_storage outcome_kind stop_reason",
        I: "call_key parent_key parent_context_fingerprint request_fingerprint outcome_fingerprint "
        "previous_sha256 stated_sha256 computed_sha256",
        Treatment.CLOCK: "started_at",
        Treatment.TEXT: "label",
        Treatment.DERIVED: "source_id",
    },
    "cassette_faults": {
        K: f"{_ROW} line rank physical_line",
        N: "code",
        Treatment.TEXT: "message",
        Treatment.DERIVED: "source_id path",
    },
    "scenarios": {
        K: f"{_ROW} version is_pin child_system_prompts child_tool_schemas changes prompt_changes "
        "has_override is_workspace_final attachments retained_version",
        W: "profile recording platform permission",
        I: "scenario composition header_class system_prompt_source tool_schemas_source session_source",
        Treatment.IDS: "coverage",
        Treatment.TEXT: "environment workspace_setup workspace_parent task fault",
        Treatment.DERIVED: "source_id scenario_key folder missing_since",
    },
    "fixture_roles": {
        Treatment.DERIVED: "source_id scenario_key folder ordinal generation path is_selected status "
        "session_id",
    },
    "rejects": {
        K: f"{_ROW} line frame byte_offset",
        N: "code",
        Treatment.TEXT: "message",
        Treatment.DERIVED: "source_id path",
    },
    "findings": {Treatment.DERIVED: "source_id severity code path position message"},
    "prices": {
        # Shipped rows, and figures of the user's own file: shared_lake writes that without the last two.
        K: "model priced_as currency valid_from valid_to hours_utc days days_utc_offset input_price "
        "output_price cache_read_price cache_write_price is_own",
        Treatment.ANEW: "price_id",
        Treatment.NULL: "source remark",
    },
}

_SHADOWED = """'shadowedSeqs', from_json(parsable(data), '{"shadowedSeqs":["BIGINT"]}').shadowedSeqs"""

DATA_MEMBERS: Mapping[str, str] = {
    "compaction/summary": _SHADOWED,
    "compaction/prune": _SHADOWED,
    "subagent/catalog": "'childId', hashed(parsable(data) ->> '$.childId')",
    "subagent/descriptor": "'mode', kept_word(parsable(data) ->> '$.mode'), "
    "'provider', kept_word(parsable(data) ->> '$.provider'), 'label', masked(parsable(data) ->> '$.label')",
    "tool/call": "'name', kept_name(parsable(data) ->> '$.name')",
    "turn/end": "'reason', json_object('kind', kept_word(parsable(data) ->> '$.reason.kind'))",
}
"""What stays of the data of these types of events, since views ask for it: members and values in SQL."""

_VOCABULARY = """
user assistant system developer tool model subagent human plugin root agent-instructions session-reference
team-message goal skill-invocation skill-catalog coordinator subagent-report subagent-settled webhook
agent-message system-prompt runtime-context tool-registry compact-checkpoint ptc-mode compact-basic
model-selection plan-mode time-context tmux-context user-approval repeat-tool-reminder tool-cordis
cordis-host-runner tool-goal tool-jobs hooks-codex hooks-claude-code schedule dsh-session-title-llm workspace

completed aborted error failed max-tokens refusal other stop tool-calls interrupted forked blocked ok
cancelled rejected allowed-once allowed-always killed timeout start-error result-error result
initial resume series change compaction producer kill fork spawn one-shot continuable

metadata full headless sdk acp web live authored posix pwsh read-only workspace-write danger-full-access
multi-hop packed-row retry-failure shipped-profile adjacent-migration retired-tools
"""
# Who wrote a message, where it came from; how something ended and why; how cassettes and scenarios are made.

WORDS: frozenset[str] = frozenset(_VOCABULARY.split())
"""The producer's closed vocabularies. Source: session-generations.md sections 4 to 6, session-archive.md
section 6, session-archive-fields.md, cassette.md, snapshot-kit.md."""


@cache
def treatments(table: str) -> Mapping[str, Treatment]:
    """The treatment of every column of a table, those that users see and those on disk.

    Raises:
        SchemaError: a column has none, or more than one: our fault.
    """
    declared = [(name, one) for one, names in _DECLARED.get(table, {}).items() for name in names.split()]
    found = dict(declared)
    columns = {column.name for column in (*TABLES[table].columns, *TABLES[table].stored)}
    if wrong := sorted(columns ^ found.keys()):
        raise SchemaError(f"table {table}: no treatment of {wrong[0]}, or it is no column")
    if len(found) < len(declared):
        raise SchemaError(f"table {table}: a column has two treatments")
    return found


def treated_columns(table: str) -> str:
    """A list of SQL expressions, one for each column of the stored table, in order.

    Raises:
        SchemaError: a column has no treatment that can be told in SQL: our fault.
    """
    chosen = treatments(table)
    return ", ".join(
        f'{_expression(table, name, chosen[name])} as "{name}"' for name in STORED[table].stored_names
    )


_NOT_IN_SQL = (Treatment.ROOTS, Treatment.COUNTS, Treatment.ANEW, Treatment.DERIVED)


def _expression(table: str, name: str, treatment: Treatment) -> str:
    if treatment in _NOT_IN_SQL:
        raise SchemaError(f"table {table}: {name} is on disk, and its treatment is none of SQL")
    return treatment.value.format(name)
