"""Every table, declared once; everything else about a table is derived from here.

Two shapes of a table exist. What users read (``Table.columns``) is fixed by the interface. What lies
on disk (``Table.stored``) is append-only: a row is never changed in place. Each stored row names its
file (``source_key``) and the scan that wrote it (``batch``); the ``sources`` row of that file says
which batches are current, so replacing a file's rows, or electing another copy of a session, changes
one small table and rewrites nothing. Columns that later events can change (``is_inherited``,
``is_replaced``, a call's result) are therefore not stored: ``queries/tables/*.sql`` derives them.

Types are spelled in SQL's words; :func:`arrow_schema` and :func:`duckdb_type` translate.
Integers are 64 bit, instants UTC microseconds, text is UTF-8 with 64-bit offsets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = "3.0"
"""``major.minor``: a lake of another major version is refused, a minor one gains null columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type, what it means, its unit and where in the record its value comes from."""

    name: str
    type: str
    doc: str
    nullable: bool = True
    unit: str = ""
    source: str = ""
    is_content: bool = False
    """Free text of users, models or tools: null in a lake without content."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, its key, the columns that users see and those on disk."""

    name: str
    doc: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    stored: tuple[Column, ...] = ()
    """Columns of the Delta table, in file order; empty when the table is wholly derived."""

    @property
    def stored_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.stored)


def _text(name: str, doc: str, **more: object) -> Column:
    return Column(name, "text", doc, **more)  # type: ignore[arg-type]


def _int(name: str, doc: str, **more: object) -> Column:
    return Column(name, "bigint", doc, **more)  # type: ignore[arg-type]


def _flag(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name, "boolean", doc, nullable=nullable)


def _at(name: str, doc: str, **more: object) -> Column:
    return Column(name, "timestamp", doc, unit="UTC, microseconds", **more)  # type: ignore[arg-type]


# -- columns that many tables share ------------------------------------------------------------------

SOURCE_ID = _text("source_id", "the file the row comes from; stable opaque text", nullable=False)
LINE = _int("line", "1-based line of the decoded text; blank lines count", nullable=False)
SEQ = _int("seq", "the event's own sequence number; by position where the file has none", nullable=False)
SESSION_ID = _text("session_id", "the session the event belongs to", source="header.id")
AT = _at("at", "when the event was made; null where the record has no usable time", source="time")
TURN = _int("turn", "turn of the event, carried forward where the record has none; null outside turns")
STEP = _int("step", "step of the event, carried forward where the record has none; null outside steps")
IS_INHERITED = _flag(
    "is_inherited", "copied from the parent session; counted in no measure but events and lines"
)
IS_RECOVERED = _flag("is_recovered", "from a torn last frame: shown, counted in no measure")

SOURCE_KEY = _int("source_key", "number of the file within this lake", nullable=False)
BATCH = _int("batch", "number of the scan that wrote the row", nullable=False)
IS_TAIL = _flag("is_tail", "read beyond the point where the next scan resumes: current only in its own batch")

RECORD_LINE = _int("line", "line of the record; blank lines do not count, the header is 1", nullable=False)
PHYSICAL_LINE = _int("physical_line", "line of the file, blank lines counted; null: no line in particular")

_ROW = (SOURCE_KEY, BATCH, IS_TAIL)
_EVENT_ROW = (*_ROW, IS_RECOVERED, LINE, SEQ)
_POSITION = (SOURCE_ID, LINE, SEQ, SESSION_ID)
_FLAGS = (IS_INHERITED, IS_RECOVERED)


def _table(
    name: str,
    doc: str,
    grain: str,
    key: Iterable[str],
    columns: Iterable[Column],
    stored: Iterable[Column] = (),
) -> Table:
    return Table(name, doc, grain, tuple(key), tuple(columns), tuple(stored))


# -- the tables ------------------------------------------------------------------------------------------

SCANS = _table(
    "scans",
    "What each scan did, and the version of every other table that it made current.",
    "one row per scan (and per compaction or pruning)",
    ("scan_id",),
    _scan_columns := (
        _text("scan_id", "name of the scan: its start in UTC and its batch number", nullable=False),
        _int("batch", "number of the scan, counting from 1", nullable=False),
        _text("action", "scan or compact", nullable=False),
        _at("started_at", "when the scan began", nullable=False),
        Column("elapsed_s", "double", "how long it took", unit="s"),
        Column("roots", "text[]", "the folders and files that were scanned"),
        _text("counts", "the summary as printed by `scan --format json`: a JSON object"),
        _text("table_versions", "JSON object: table name to Delta version", nullable=False),
        _flag("has_content", "whether the lake keeps message, argument and result text"),
        _text("schema_version", "schema version of the rows written", nullable=False),
    ),
    _scan_columns,
)

_SOURCE_FACTS = (
    _text("root", "the folder given to scan under which the file was found"),
    _text("path", "absolute path of the file", nullable=False),
    _text("kind", "session, cassette or fixture", nullable=False),
    _text("encoding", "zstd or plain, decided by content"),
    _int("generation", "N of session.vN in the file name; null where the name is no log's name"),
    _int("format_version", "version in the header", source="header.version"),
    _text("session_id", "id in the header", source="header.id"),
    _int("size_bytes", "size of the file when read", unit="bytes"),
    _at("modified_at", "modification time of the file when read"),
    _int(
        "decoded_bytes", "text of its good frames, or of a plain file up to its last line end", unit="bytes"
    ),
    _int("frames", "complete zstd data frames, good or bad; 0 for a plain file"),
    _int("bad_frames", "complete frames whose content or checksum does not decode"),
    _int("skippable_frames", "zstd skippable frames"),
    _int(
        "good_frame_bytes", "compressed bytes of good frames; of a plain file its whole lines", unit="bytes"
    ),
    _int("bad_frame_bytes", "compressed bytes of bad frames", unit="bytes"),
    _int("skippable_bytes", "bytes of skippable frames", unit="bytes"),
    _int("unframed_bytes", "bytes between frames that belong to none", unit="bytes"),
    _int("torn_tail_bytes", "bytes after the last complete frame or line", unit="bytes"),
    _int("lines", "non-blank lines of good frames ended by LF, header included"),
    _int("recovered_lines", "whole lines that decode from a torn last frame"),
    _int("rejected_lines", "lines that are neither header nor event"),
    _int("events", "event rows, packed rows expanded, recovered ones left out"),
)

_SESSION_FACTS = (
    _at("created_at", "creation time of the session", source="header.createdAt"),
    _text("cwd", "working directory at creation", source="header.cwd"),
    _text("workspace", "name of the workspace folder the log lies in; null outside a DSH layout"),
    _text("parent_session_id", "the session it was spawned or forked from", source="header.parentSession"),
    _text("origin", "subagent for children, else null", source="header.origin"),
    _int("delegation_depth", "0 at top level", source="header.delegationDepth"),
    _text("agent_preset", "preset at creation", source="header.agentPreset"),
    _flag("is_seeded", "begins with events copied from its parent", nullable=True),
    _int("inherited_events", "how many of its events are copies"),
    _text("title", "last title", source="session/title", is_content=True),
    _at("first_event_at", "earliest event time"),
    _at("last_event_at", "latest event time"),
)

_STATUS = (
    _text(
        "status",
        "ok, partial (something could not be read), superseded (older generation), duplicate (another copy "
        "counts), missing (file gone, rows remembered), skipped (newer format, or empty), failed",
        nullable=False,
    ),
    _text("message", "why, where the status is not ok"),
    _at("missing_since", "when the file was first found gone"),
    _flag("is_counted", "whether the rows of this file are the ones that tables show"),
)

SOURCES = _table(
    "sources",
    "Every file ever met, with what of it is counted and why not.",
    "one row per file",
    ("source_id",),
    (SOURCE_ID, *_SOURCE_FACTS, *_STATUS),
    (
        SOURCE_ID,
        SOURCE_KEY,
        *_SOURCE_FACTS,
        *_SESSION_FACTS,
        _text("state", "status of the file by itself, before copies are compared", nullable=False),
        _text("code", "finding that the state gives rise to, where no row of rejects tells it"),
        _text("message", "why, where the state is not ok"),
        _at("missing_since", "when the file was first found gone"),
        _int("root_rank", "position of the root among those given", nullable=False),
        _int("inherited_cut", "events with a lower seq are inherited", nullable=False),
        _flag("has_repeated_calls", "an id was used for two calls or two results, or that is not known"),
        _int("first_batch", "batches from this one on are current", nullable=False),
        _int("last_batch", "the batch that read the file last", nullable=False),
        _text("notes", "JSON list of warnings: severity, code, count, line, message", nullable=False),
        _int("mtime_ns", "modification time when read", unit="ns"),
        _int("ctime_ns", "change time of the inode when read", unit="ns"),
        _int("inode", "inode number when read"),
        _flag("is_racy", "changed so shortly before it was read that times alone cannot prove it unchanged"),
        _text(
            "prefix_sha256", "digest of the bytes before the resume offset; null where it must be read again"
        ),
        _text("resume", "JSON: where and in what state the next scan goes on; null where it must start over"),
    ),
)

SESSIONS = _table(
    "sessions",
    "Sessions, each from the one file that counts for it.",
    "one row per session",
    ("session_id", "source_id"),
    (
        SESSION_ID,
        SOURCE_ID,
        _int("format_version", "version in the header", source="header.version"),
        *_SESSION_FACTS[:4],
        _text("root_session_id", "top of its chain of sub-agent parents; itself at top level"),
        *_SESSION_FACTS[4:],
    ),
)

DATA = Column("data", "json", "the event's data as the file spells it", source="data", is_content=True)

EVENTS = _table(
    "events",
    "Every event, packed rows expanded, inherited ones included.",
    "one row per event",
    ("source_id", "line", "seq"),
    (
        *_POSITION,
        _int("frame", "1-based zstd frame in which the line begins; null in plain files"),
        _text("type", "event type", nullable=False, source="type"),
        AT,
        TURN,
        STEP,
        *_FLAGS,
        DATA,
    ),
    (
        *_EVENT_ROW,
        _int("frame", "1-based zstd frame in which the line begins; null in plain files"),
        _text("type", "event type", nullable=False, source="type"),
        AT,
        TURN,
        STEP,
        _int("members", "events that the line stands for: 1 but for packed rows", nullable=False),
        DATA,
        Column(
            "packed_prefix", "json", "what stands before a packed member's text in its data", is_content=True
        ),
        Column("packed_texts", "json[]", "the members' texts as JSON strings, in order", is_content=True),
        Column("packed_offsets_ms", "bigint[]", "the members' times after the first", unit="ms"),
    ),
)

_MESSAGE = (
    _text("role", "user, assistant, system or developer", nullable=False),
    _text("message_id", "id of the message", source="message.id"),
    _text("source_kind", "who wrote it; plug-in names of older formats are given their later kinds"),
    _flag("is_human", "typed by a person at top level: kind user (or none), no re-rendering, no sub-agent"),
    _flag("is_replacement", "a re-rendering of earlier messages for the model"),
    _int("text_chars", "characters of its text blocks", unit="code points"),
    _int("reasoning_chars", "characters of its reasoning blocks", unit="code points"),
    _int("tool_call_count", "tool calls it asks for"),
    _int("image_count", "images it holds"),
    _flag("is_interrupted", "cut off by the user"),
    _at("first_chunk_at", "when the first part of the reply came; null where its stream is not embedded"),
    _text(
        "model", "model that the reply was asked of; null for other messages", source="message.source.model"
    ),
)

MESSAGES = _table(
    "messages",
    "Messages of users, assistants, the system and developers; tool results are in tool_results.",
    "one row per message",
    ("source_id", "line", "seq"),
    (*_POSITION, AT, TURN, STEP, *_MESSAGE, *_FLAGS),
    (*_EVENT_ROW, AT, TURN, STEP, *_MESSAGE),
)

_TOKENS = (
    _text("provider", "provider asked", source="message.source.provider"),
    _text("model", "model asked for", source="message.source.model"),
    _text("served_model", "model that answered, where the record says so", source="replayState"),
    _int("input_tokens", "uncached input", unit="tokens", source="usage.inputTokens"),
    _int("output_tokens", "output, reasoning included", unit="tokens", source="usage.outputTokens"),
    _int("cache_read_tokens", "input read from the cache", unit="tokens", source="usage.cacheReadTokens"),
    _int("cache_write_tokens", "input written to the cache", unit="tokens", source="usage.cacheWriteTokens"),
    _int("reasoning_tokens", "part of output", unit="tokens", source="usage.reasoningTokens"),
    _int("total_tokens", "total as stated by the record", unit="tokens", source="usage.totalTokens"),
)

USAGE = _table(
    "usage",
    "Usage samples: what each model call was billed.",
    "one row per usage sample; the harness's own fold marks those that a later one replaces",
    ("source_id", "line", "seq"),
    (
        *_POSITION,
        AT,
        TURN,
        STEP,
        _text("kind", "message, attempt (thrown away or never answered) or compaction", nullable=False),
        *_TOKENS,
        _flag("is_replaced", "a later sample of the same turn and step stands in its place: not counted"),
        *_FLAGS,
    ),
    (
        *_EVENT_ROW,
        AT,
        TURN,
        STEP,
        _text("kind", "message, attempt (thrown away or never answered) or compaction", nullable=False),
        *_TOKENS,
        _int("replaces_line", "line of the sample before it, if it stands in that one's place"),
        _int("replaces_seq", "seq of that sample"),
    ),
)

_RESULT = (
    _text("error_name", "name of the failure, where the record gives one", source="data.error.name"),
    _text("error_code", "code of the failure, where the record gives one", source="data.error.code"),
    _int("result_chars", "characters of the result's text", unit="code points"),
    _int("exit_code", "of a command: N where the result's text ends in `[exit code: N]`, else null"),
)
_CALL_ID = _text("call_id", "id that joins call and result within a session")

TOOL_RESULTS = _table(
    "tool_results",
    "Results of tool calls, re-renderings and repairs included.",
    "one row per tool result",
    ("source_id", "line", "seq"),
    (
        *_POSITION,
        _CALL_ID,
        AT,
        _text("status", "ok, error, or interrupted (written by DSH to repair a session)", nullable=False),
        *_RESULT,
        _flag("is_replacement", "a re-rendering of an earlier result"),
        *_FLAGS,
    ),
    (
        *_EVENT_ROW,
        _CALL_ID,
        AT,
        TURN,
        STEP,
        _text("status", "ok, error or interrupted", nullable=False),
        *_RESULT,
        _flag("is_replacement", "a re-rendering of an earlier result"),
    ),
)

_CALL = (
    _text("name", "tool asked for", source="data.name"),
    _text(
        "arguments", "the model's own text, not necessarily JSON", source="data.arguments", is_content=True
    ),
    _text("arguments_sha256", "digest of the canonical form of the arguments; null when they do not parse"),
    _text("model", "model that the reply that made the call was asked of; null outside of a reply's step"),
)

TOOL_CALLS = _table(
    "tool_calls",
    "Tool calls with the result that counts for each.",
    "one row per tool call",
    ("source_id", "line", "seq"),
    (
        *_POSITION,
        _CALL_ID,
        _at("called_at", "when the call was made"),
        TURN,
        STEP,
        *_CALL,
        _int("result_line", "line of its result: the last that is no repair, else the last repair"),
        _int("result_seq", "seq of that result"),
        _at("result_at", "time of that result"),
        _int("duration_ms", "from call to answer, approval waits included; null for a repair", unit="ms"),
        _text("status", "ok, error, interrupted or unanswered", nullable=False),
        *_RESULT,
        _int("call_number", "1 for the first call of this call_id in the file, 2 where the id is used again"),
        *_FLAGS,
    ),
    (*_EVENT_ROW, _CALL_ID, AT, TURN, STEP, *_CALL),
)

FACT_COLUMNS = (
    _text("subject_id", "what it is about: id of the retry, approval, compaction, job, child or sub-call"),
    _text("call_id", "the tool call it belongs to"),
    _text("name", "tool of an approval or sub-call, kind of a job, mode of a child"),
    _text("outcome", "how it ended, in the producer's word: completed, error, allowed-once, killed, ..."),
    _text("cause", "why: reason of a request header, cause of an abort or of a job's end, way a child began"),
    _text("code", "code of the failure"),
    _int("http_status", "HTTP status of the failed request"),
    _int("ordinal", "number of the retry within its chain"),
    Column("delay_ms", "double", "wait before the retry", unit="ms"),
    _int("exit_code", "exit code of a job's command"),
    _int("tokens", "what a compaction shadowed; the context window of a request", unit="tokens"),
    _int("first_seq", "first event that a compaction shadows"),
    _int("last_seq", "last event that a compaction shadows"),
    _text("provider", "provider asked or chosen"),
    _text("model", "model asked or chosen"),
    _at("started_at", "when the job, or the stream of the attempt, began"),
    _at("finished_at", "when the job ended"),
    _text("tools_sha256", "digest of the tool definitions as a request header spells them"),
    _text("prompt_sha256", "digest of the text of a system prompt or developer message"),
)

EVENT_FACTS = _table(
    "event_facts",
    "What events state besides text: turns, retries, approvals, compactions, requests and more.",
    "one row per event of a type that states such facts",
    ("source_id", "line", "seq"),
    (
        *_POSITION,
        AT,
        TURN,
        STEP,
        _text("type", "event type", nullable=False, source="type"),
        _flag("is_replacement", "a re-rendering of earlier messages for the model"),
        *FACT_COLUMNS,
        *_FLAGS,
    ),
    (
        *_EVENT_ROW,
        AT,
        TURN,
        STEP,
        _text("type", "event type", nullable=False, source="type"),
        _flag("is_replacement", "a re-rendering of earlier messages for the model"),
        *FACT_COLUMNS,
    ),
)

_REJECT = (
    _int("line", "line of the decoded text; null where no line can be named"),
    _int("frame", "frame it lies in; null in plain files and between frames"),
    _int("byte_offset", "byte of the file where the frame (or the plain line) begins", unit="bytes"),
    _text("code", "stable word for the kind of fault", nullable=False),
    _text("message", "what is wrong, in a sentence, without content", nullable=False),
)

REJECTS = _table(
    "rejects",
    "What could not be read: lines, frames, tails, with place and reason.",
    "one row per thing that could not be read",
    ("source_id", "line", "byte_offset", "code"),
    (SOURCE_ID, _text("path", "absolute path of the file"), *_REJECT, IS_RECOVERED),
    (*_ROW, IS_RECOVERED, *_REJECT),
)

_CASSETTE = (
    _text("cassette_id", "id that the header states", source="cassetteId"),
    _text("created_at", "when the recording began, in the header's own spelling", source="createdAt"),
    _text("target", "version of the recorded sub-agent interface", source="target.dshSubagent"),
    _text("provider_cassette", "name of the recording provider", source="provider.cassette"),
    _text("provider_upstream", "name of the recorded provider", source="provider.upstream"),
    _text(
        "capabilities", "what the recorded provider can do: canonical JSON", source="provider.capabilities"
    ),
    _flag("inherits_parent_context", "children begin with their parent's messages", nullable=True),
    _text("request_storage", "metadata or full", source="requestStorage"),
    _flag("redact_secrets", "whether secrets were replaced", nullable=True),
    _text(
        "redaction_patterns",
        "configured patterns: canonical JSON",
        source="redactionPatterns",
        is_content=True,
    ),
    _text("stated_sha256", "digest that the record states", source="hash"),
    _text("computed_sha256", "digest of the record as it is; null where it has no canonical text"),
)

CASSETTES = _table(
    "cassettes",
    "Cassettes: recorded calls of sub-agents, one hash-chained file each.",
    "one row per cassette file; all null but the file where its first line is no header",
    ("source_id",),
    (SOURCE_ID, _text("path", "absolute path of the file"), *_CASSETTE, PHYSICAL_LINE),
    (*_ROW, IS_RECOVERED, *_CASSETTE, PHYSICAL_LINE),
)

_INTERACTION = (
    RECORD_LINE,
    _int("sequence", "number of the call in the order of admission", source="sequence"),
    _text("call_key", "readable name of the call, unique within the cassette", source="callKey"),
    _text("parent_key", "call key of the agent that called; root at the top", source="parentKey"),
    _text("parent_context_fingerprint", "digest of what the child could see of its parent"),
    _text("request_fingerprint", "digest of the request before any redaction"),
    _int("occurrence", "number of the call among those with the same parent, context and request"),
    _text("label", "the request's label", source="request", is_content=True),
    _int("prompt_blocks", "content blocks of the prompt", source="request"),
    _int("prompt_bytes", "canonical text of the prompt", unit="bytes", source="request"),
    _text("request_storage", "metadata or full", source="request.storage"),
    _text("started_at", "when the call was admitted, in the record's own spelling", source="timing"),
    Column("start_latency_ms", "double", "from admission to publication", unit="ms", source="timing"),
    Column("duration_ms", "double", "from admission to the outcome", unit="ms", source="timing"),
    _flag("published", "the child came to be", nullable=True),
    _flag("is_local", "the child ran in the recording process", nullable=True),
    _text("outcome_kind", "start-error, result-error or result", source="outcome.kind"),
    _text("stop_reason", "of results: completed, aborted, error, max-tokens, refusal, or other"),
    _text("outcome_fingerprint", "digest of the whole outcome: equal digests, equal outcomes"),
    _int("redactions", "replacements in a result", source="outcome.redactions"),
    _text("error_name", "name of the recorded error", source="outcome.error.name"),
    _text("error_code", "code of the recorded error", source="outcome.error.code"),
    _text("previous_sha256", "digest of the record before, as stated", source="previousHash"),
    _text("stated_sha256", "digest that the record states", source="hash"),
    _text("computed_sha256", "digest of the record as it is; null where it has no canonical text"),
    PHYSICAL_LINE,
    _int("byte_offset", "byte of the file where the line begins", unit="bytes"),
)

INTERACTIONS = _table(
    "interactions",
    "Recorded calls of sub-agents: metadata and fingerprints, never what was asked or answered.",
    "one row per interaction record, also of cassettes that fail verification",
    ("source_id", "line"),
    (SOURCE_ID, *_INTERACTION),
    (*_ROW, IS_RECOVERED, *_INTERACTION),
)

_FAULT = (
    _int("line", "line of the record, blank ones not counted; 0: the file as a whole", nullable=False),
    _int(
        "rank",
        "order of the checks of one line: the number of the check times a million, and a running number",
        nullable=False,
    ),
    _text("code", "stable word for the kind of fault", nullable=False),
    _text("message", "the original tool's own words", nullable=False),
    PHYSICAL_LINE,
)

CASSETTE_FAULTS = _table(
    "cassette_faults",
    "Checks that records of cassettes fail by themselves; faults across lines are in cassette_findings.",
    "one row per failed check",
    ("source_id", "line", "rank"),
    (SOURCE_ID, _text("path", "absolute path of the file"), *_FAULT),
    (*_ROW, IS_RECOVERED, *_FAULT),
)

_SCENARIO = (
    _int("version", "version of the manifest", source="version"),
    _text("scenario", "name that the manifest states", source="scenario"),
    _text("profile", "headless, sdk, acp or web", source="profile"),
    _text("composition", "name of the composition", source="composition"),
    _text("recording", "live or authored", source="recording"),
    _text("header_class", "class of its request headers within the composition", source="header.class"),
    _flag("is_pin", "pins the header of its class", nullable=True),
    _text("system_prompt_source", "pin whose prompt it reuses", source="header.systemPromptSource"),
    _text("tool_schemas_source", "pin whose tool schemas it reuses", source="header.toolSchemasSource"),
    Column("child_system_prompts", "bigint[]", "children with a prompt of their own"),
    Column("child_tool_schemas", "bigint[]", "children with tool schemas of their own"),
    _int("changes", "declared changes of the header", source="header.changes"),
    _int("prompt_changes", "declared changes of the prompt", source="header.promptChanges"),
    _flag("has_override", "replays a script of its own", nullable=True),
    _text("platform", "posix or pwsh, where it runs there alone", source="platform"),
    _text("permission", "what the run may do", source="permission"),
    Column("environment", "json", "variables of the run", source="environment", is_content=True),
    _text("workspace_setup", "what prepares its workspace", source="workspace.setup"),
    _flag("is_workspace_final", "states what the run leaves in its workspace", nullable=True),
    _text("workspace_parent", "where its workspace lies, if elsewhere", source="workspace.parent"),
    _text("task", "task that the session does not tell", source="input.task", is_content=True),
    _int("attachments", "attachments that the session does not tell"),
    _text("session_source", "session file of another scenario that it replays", source="session.source"),
    _int("retained_version", "historical format that it keeps", source="sessionFormat.version"),
    Column("coverage", "text[]", "what the historical format is kept for"),
    _text("fault", "why the manifest cannot be used: all of the other columns are null then"),
)

_FOLDER = _text("folder", "absolute path of the scenario's directory", nullable=False)
_SCENARIO_KEY = _text(
    "scenario_key", "suite and directory of the scenario, as the kit names it: acp/text-turn", nullable=False
)

SCENARIOS = _table(
    "scenarios",
    "Fixture scenarios: what the manifest of each states.",
    "one row per manifest, also of those that cannot be used",
    ("source_id",),
    (
        SOURCE_ID,
        _SCENARIO_KEY,
        _FOLDER,
        *_SCENARIO,
        _at("missing_since", "when the manifest was first found gone"),
    ),
    (*_ROW, IS_RECOVERED, *_SCENARIO),
)

FIXTURE_ROLES = _table(
    "fixture_roles",
    "Session files of fixture scenarios, older generations included.",
    "one row per session file beside a manifest",
    ("source_id",),
    (
        SOURCE_ID,
        _SCENARIO_KEY,
        _FOLDER,
        _int("ordinal", "0 for the parent, else the number of the child", nullable=False),
        _int("generation", "format that the file name states", nullable=False),
        _text("path", "absolute path of the file", nullable=False),
        _flag("is_selected", "the highest generation of its role: its events are the ones that tables show"),
        _text("status", "status of the file, see sources", nullable=False),
        _text("session_id", "id in the header; null of files that are not read"),
    ),
)

FINDINGS = _table(
    "findings",
    "Everything worth telling about the files read: faults, warnings, remarks.",
    "one row per finding",
    ("source_id", "code", "position"),
    (
        SOURCE_ID,
        _text("severity", "fail, warn or info", nullable=False),
        _text("code", "stable word for the kind of finding", nullable=False),
        _text("path", "absolute path of the file"),
        _text("position", "place in the file, such as `line 12` or `byte 345`"),
        _text("message", "what was found and what follows from it, without content"),
    ),
)

_PRICE = "currency per million tokens"

PRICES = _table(
    "prices",
    "What models cost and when: the shipped price rows, and those of the `prices.csv` of the lake.",
    "one row per name of a model and price row that holds for it",
    ("price_id", "model"),
    (
        _text("price_id", "name of the price row; calls name it in usage_cost", nullable=False),
        _text("model", "the name as calls give it, matched exactly", nullable=False),
        _text("priced_as", "the name whose row has the figures; another one where it is an alias"),
        _text("currency", "three letters, such as USD"),
        _at("valid_from", "the row holds from here on; null: from the beginning"),
        _at("valid_to", "and before here; null: until further notice"),
        _text("hours_utc", "hours of the day in which it holds; null: whenever no row with hours does"),
        _text("days", "days of the week on which it holds; null: all"),
        _text("days_utc_offset", "where these days begin; null: at midnight UTC"),
        Column("input_price", "double", "uncached input", unit=_PRICE),
        Column("output_price", "double", "output, reasoning included", unit=_PRICE),
        Column("cache_read_price", "double", "input read from the cache", unit=_PRICE),
        Column("cache_write_price", "double", "input written to the cache", unit=_PRICE),
        _flag("is_own", "from the lake's own `prices.csv`"),
        _text("source", "where the figures were found"),
        _text("remark", "what is to be known of the row"),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        SCANS,
        SOURCES,
        SESSIONS,
        EVENTS,
        MESSAGES,
        USAGE,
        TOOL_RESULTS,
        TOOL_CALLS,
        EVENT_FACTS,
        CASSETTES,
        INTERACTIONS,
        CASSETTE_FAULTS,
        SCENARIOS,
        FIXTURE_ROLES,
        REJECTS,
        FINDINGS,
        PRICES,
    )
}
"""All tables by name, in the order in which documentation lists them."""

STORED: dict[str, Table] = {name: table for name, table in TABLES.items() if table.stored}
"""The tables that lie on disk."""

ROW_TABLES: tuple[str, ...] = tuple(name for name in STORED if name not in ("scans", "sources"))
"""The append-only tables that ingest writes."""

_DUCKDB = {
    "text": "VARCHAR",
    "json": "VARCHAR",
    "bigint": "BIGINT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
}


def duckdb_type(column: Column) -> str:
    """The DuckDB spelling of a column's type."""
    base = column.type.removesuffix("[]")
    return _DUCKDB[base] + column.type[len(base) :]


def _arrow_type(type_name: str) -> pa.DataType:
    import pyarrow as pa

    if type_name.endswith("[]"):
        return pa.list_(_arrow_type(type_name.removesuffix("[]")))
    return {
        "text": pa.large_string(),
        "json": pa.large_string(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }[type_name]


def _arrow_fields(columns: Iterable[Column]) -> pa.Schema:
    import pyarrow as pa

    def field(column: Column) -> pa.Field:
        about = {"doc": column.doc, "unit": column.unit, "source": column.source}
        metadata = {name: text for name, text in about.items() if text}
        return pa.field(column.name, _arrow_type(column.type), column.nullable, metadata)

    return pa.schema(
        [field(column) for column in columns], metadata={"dsh_lake.schema_version": SCHEMA_VERSION}
    )


@cache
def stored_schema(name: str) -> pa.Schema:
    """The Arrow schema of a table as it lies on disk."""
    return _arrow_fields(TABLES[name].stored)


@cache
def arrow_schema(name: str) -> pa.Schema:
    """The Arrow schema of a table as users read it."""
    return _arrow_fields(TABLES[name].columns)


def empty_table(name: str) -> pa.Table:
    """A table without rows, as users would read it."""
    return arrow_schema(name).empty_table()
