"""One session log as a generation of the harness would have written it, and the truth about it.

The rule: everything is counted where it is written, from what is meant by it. Nothing here reads a log, so a
reader can be held against these counts.

Source: the shapes follow spec/session-archive.md and spec/session-archive-fields.md.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
PROVIDER = "deepseek-official"
SYSTEM_PROMPT = "You are an AI agent powered by DeepSeek Harness. Read before you write."
TOOL_NAMES = ("read", "bash", "grep", "edit", "web_fetch", "subagent")
BUCKETS = ("input", "output", "cache_read", "cache_write", "reasoning")

Json = dict[str, Any]


@dataclass
class Usage:
    """One billed call, in disjoint counts (reasoning is part of output)."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    def stored(self, version: int) -> dict[str, int]:
        """The object as that format's runtimes wrote it."""
        counts = {"inputTokens": self.input, "outputTokens": self.output}
        if version >= 4:
            counts |= {"cacheReadTokens": self.cache_read, "cacheWriteTokens": self.cache_write}
            return counts | {"totalTokens": self.total}
        return counts | {
            "totalTokens": self.total,
            "cacheReadTokens": self.cache_read,
            "reasoningTokens": self.reasoning,
        }


class Row(NamedTuple):
    """One line, and how many events it stands for from which seq on."""

    seq: int
    events: int
    text: str


class Call(NamedTuple):
    call_id: str
    name: str
    seq: int


class ForkPoint(NamedTuple):
    """Where a log can be forked: everything before ``seq`` is copied."""

    seq: int
    turn: int
    step: int
    context_tokens: int
    open_calls: tuple[Call, ...]


@dataclass
class Truth:
    """What one log holds: plain counts, tokens by (kind, model, day, bucket), calls by (tool, outcome)."""

    counts: Counter[str] = field(default_factory=Counter)
    tokens: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    tools: Counter[tuple[str, str]] = field(default_factory=Counter)
    error_codes: Counter[str] = field(default_factory=Counter)


class Log:
    """A log under construction. Each method writes what the harness would write for one thing that happens,
    and counts that thing. ``at_ms`` is the clock: the next event's time."""

    def __init__(
        self,
        name: str,
        *,
        version: int,
        cwd: str,
        at_ms: int,
        model: str,
        parent: Log | None = None,
        forked_at: ForkPoint | None = None,
        is_subagent: bool = False,
    ) -> None:
        self.rng = random.Random(name)
        self.session_id = ("" if is_subagent else "session-") + self.new_id()
        self.version, self.cwd, self.at_ms, self.model = version, cwd, at_ms, model
        self.parent, self.is_subagent = parent, is_subagent
        self.depth: int = parent.depth + 1 if parent and is_subagent else 0
        self.turn = self.step = self.seq = self.cached_tokens = 0
        self.context_tokens = 6_000
        self.rows: list[Row] = []
        self.frames: list[list[str]] = []
        self.batch: list[str] = []
        self.surface: list[int] = []
        self.calls: dict[str, str] = {}
        self.answers: dict[str, tuple[str, str | None]] = {}
        self.truth = Truth()
        self._write_header(forked_at)
        if forked_at is not None and parent is not None:
            self._inherit(parent, forked_at)

    # ------------------------------------------------------------ lines and frames

    def new_id(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def later(self, low_ms: int, high_ms: int | None = None) -> None:
        self.at_ms += self.rng.randrange(low_ms, (high_ms or low_ms) + 1)

    def emit(self, type_: str, data: Any, **envelope: Any) -> int:
        """Write one event and return its seq."""
        seq = self.seq
        self._line({"type": type_, "seq": seq, "time": self.at_ms, "data": data} | envelope, 1)
        return seq

    def flush(self) -> None:
        """End the append: what was written since the last one becomes a frame."""
        if self.batch:
            self.frames.append(self.batch)
            self.batch = []

    def _line(self, value: Json, events: int) -> None:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        self.rows.append(Row(self.seq, events, text))
        self.batch.append(text)
        self.seq += events
        self.truth.counts["events"] += events

    def _write_header(self, forked_at: ForkPoint | None) -> None:
        header: Json = {
            "type": "session",
            "version": self.version,
            "id": self.session_id,
            "createdAt": self.at_ms,
            "cwd": self.cwd,
        }
        if self.parent:
            header["parentSession"] = self.parent.session_id
        if self.version >= 2:
            header["isSeeded"] = forked_at is not None
        elif forked_at is not None:
            header["seedLength"] = forked_at.seq
        if self.is_subagent:
            header["origin"] = "subagent"
        self.batch.append(json.dumps(header | {"delegationDepth": self.depth}, separators=(",", ":")))
        self.flush()
        self.truth.counts["sessions"] = 1
        self.truth.counts["subagent_sessions"] = int(self.is_subagent)
        self.truth.counts["seeded_sessions"] = int(forked_at is not None)

    def _inherit(self, parent: Log, point: ForkPoint) -> None:
        """Copy the parent's rows before the fork, mark the seam, and close what was open there."""
        copied = [row for row in parent.rows if row.seq < point.seq]
        self.rows, self.batch, self.seq = list(copied), [row.text for row in copied], point.seq
        self.truth.counts["events"] += point.seq
        self.truth.counts["inherited_events"] += point.seq
        self.turn, self.step, self.context_tokens = point.turn, point.step, point.context_tokens
        self.model, self.surface = parent.model, [seq for seq in parent.surface if seq < point.seq]
        self.emit("session/end-seed", {"inherited": True} if self.version >= 2 else {})
        for call in point.open_calls:
            self._repair(call, "forked-tool-result", "TOOL_OUTCOME_UNKNOWN")
        if point.open_calls:
            self.end_turn("forked")
        self.flush()

    # ------------------------------------------------------------ a session's own events

    def open(self, *, label: str = "", provider: str = "spawn", mode: str = "continuable") -> None:
        """The first events of a session; of a child its descriptor before them."""
        delegated = {"source": "delegation"} if self.is_subagent else {}
        if self.is_subagent:
            descriptor = {"version": 3, "mode": mode, "provider": provider, "label": label}
            self.emit("subagent/descriptor", descriptor)
        self.emit("permission/preset", {"preset": "workspace-write"})
        self.emit("sandbox/mode", {"mode": "workspace-write"} | delegated)
        self.emit("approval/policy", {"policy": "never"} | delegated)
        self.flush()

    def prompt(self, text: str, source: Json | None = None) -> None:
        """Somebody says something: a turn and its first step begin."""
        source = source or {"kind": "user"}
        message = {"content": [_text(text)], "source": source, "role": "user", "id": self.new_id()}
        self.emit("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]})
        self.turn, self.step = self.turn + 1, 0
        self.emit("turn/start", {"turn": self.turn})
        taken = {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []}
        self.emit("agent/inbox/spliced", taken)
        self.flush()
        self.begin_step()
        is_first = not self.surface
        if is_first and self.version >= 3:
            self._system_message()
        seq = self._user_message(message)
        self.truth.counts["human_messages"] += source["kind"] == "user" and not self.is_subagent
        if is_first:
            self._user_message(self._runtime_context())
            title = {"title": text[:60], "messageSeqs": [seq], "source": {"kind": "fallback"}}
            self.emit("session/title", title)
            self.request("initial")
        self.flush()

    def begin_step(self) -> None:
        self.step += 1
        self.later(10, 90)
        self.emit("step/start", self._here())

    def end_step(self) -> None:
        self.emit("step/end", self._here())
        self.flush()

    def end_turn(self, kind: str = "completed", **details: Any) -> None:
        self.emit("step/end", self._here())
        self.emit("turn/end", {"turn": self.turn, "reason": {"kind": kind} | details})
        self.flush()

    def request(self, reason: str) -> None:
        """What the next calls are made with: route, tools, and in v0 the system prompt."""
        config = {"provider": PROVIDER, "model": self.model, "maxTokens": 256_000, "reasoningEffort": "high"}
        tools = [{"name": name, "description": f"The {name} tool."} for name in TOOL_NAMES]
        header: Json = {"config": config, "adapterDefaults": {"maxTokens": True}}
        if self.version < 3:
            header["system"] = SYSTEM_PROMPT
        self.emit("request/header", {"header": header | {"tools": tools}, "reason": reason})
        context = {"provider": PROVIDER, "model": self.model, "contextWindow": 1_000_000}
        self.emit("request/context", context)

    def select_model(self, model: str) -> None:
        """The user changes the model: nothing of the prompt is cached there."""
        self.model, self.cached_tokens = model, 0
        self.emit("model/selection", {"provider": PROVIDER, "model": model, "reasoningEffort": "high"})
        self.request("change")
        self.flush()

    def reply(self, text: str, calls: tuple[tuple[str, str], ...] = (), *, reasoning: str = "") -> list[Call]:
        """The model answers; returns the calls (name, arguments) that it made, written as events too."""
        blocks: list[Json] = []
        if reasoning:
            blocks.append({"type": "reasoning", "text": reasoning})
        if text:
            blocks.append(_text(text))
        for name, arguments in calls:
            call_id = f"call_{self.turn:02}{self.step:02}_{len(blocks)}"
            blocks.append({"type": "tool-call", "id": call_id, "name": name, "arguments": arguments})
        usage = self._call_model(blocks)
        finish = {"kind": "tool-calls" if calls else "stop"}
        self._assistant_message(blocks, usage, finish)
        made = [self._call(block) for block in blocks if block["type"] == "tool-call"]
        self.flush()
        return made

    def interrupted_reply(self, text: str) -> None:
        """The user cancels while the model answers: partial content, no usage."""
        self._assistant_message([_text(text)], None, None)
        self.end_turn("aborted", reason={"kind": "user"})

    def answer(self, call: Call, text: str, failure: tuple[str, str | None] | None = None) -> None:
        """A tool answers its call, or fails with (error name, code); a code of None leaves only isError."""
        self.later(40, 4_000)
        error = {"error": {"name": failure[0], "code": failure[1]}} if failure and failure[1] else {}
        self._result(call, self.new_id(), text, failure is not None, error)
        self.answers[call.call_id] = ("error", failure[1]) if failure else ("ok", None)
        self.flush()

    def failed_attempt(self, code: str, message: str, *, is_billed: bool) -> None:
        """A request comes to nothing and is made again."""
        failure = {"message": message, "code": code}
        usage = self._call_model([]) if is_billed else None
        records = list(self._stream([], usage, {"kind": "error", "failure": failure}))
        if self.version >= 2:
            self.emit("assistant/attempt", self._here() | {"stream": records})
        else:
            self._write_chunks(records)
        self._bill("attempt", usage)
        retry = self._here() | {"retryId": self.new_id(), "retry": 1}
        policy = {"provider": PROVIDER, "mode": "normal", "policyKey": "demo", "maxRetries": 5}
        self.emit("llm/retry", retry | policy | {"delayMs": 512.25, "failure": failure})
        self.later(500, 600)
        self.emit("llm/retry-started", retry)
        self.flush()

    def compact(self, summary_text: str) -> None:
        """The harness summarises the conversation, with a call of its own, and goes on from the summary."""
        mark: Json = {"compactionId": self.new_id(), "turn": self.turn}
        self.emit("compaction/start", mark)
        self.later(2_000, 6_000)
        shadowed, summary = self.surface[1:], [_text(summary_text)]
        usage = self._call_model(summary)
        details = {
            "compactionId": mark["compactionId"],
            "summary": summary,
            "shadowedRange": {"start": shadowed[0], "end": shadowed[-1]},
            "shadowedSeqs": shadowed,
            "shadowedTokenCount": self.context_tokens - 6_000,
            "provider": PROVIDER,
            "model": self.model,
            "usage": usage.stored(self.version),
        }
        self.emit("compaction/summary", details)
        self._bill("compaction", usage)
        plugin = {"kind": "plugin", "plugin": "compact"}
        source = {"kind": "compact-checkpoint"} if self.version >= 4 else plugin
        source["compactionId"] = mark["compactionId"]
        start, end = ("startSeq", "endSeq") if self.version >= 3 else ("start", "end")
        replaces = {"op": "replace", start: shadowed[0], end: shadowed[-1]}
        checkpoint = {"content": summary, "source": source, "role": "user", "id": self.new_id()}
        del self.surface[1:]
        self._user_message(checkpoint, sourceEventSeqs=shadowed, surfaceOp=replaces)
        self.emit("compaction/end", mark)
        self.context_tokens, self.cached_tokens = 6_800, 0
        self.flush()

    def repair(self, open_calls: list[Call]) -> None:
        """A killed session is opened again: its calls are answered for it, its turn is closed."""
        for call in open_calls:
            self._repair(call, "interrupted-tool-result", "TOOL_OUTCOME_UNKNOWN")
        self.end_turn("interrupted")
        self.later(HOUR_MS)
        self.emit("session/end-seed", {})
        self.cached_tokens = 0
        self.flush()

    def fork_point(self, open_calls: list[Call] | None = None) -> ForkPoint:
        return ForkPoint(self.seq, self.turn, self.step, self.context_tokens, tuple(open_calls or ()))

    # ------------------------------------------------------------ shapes

    def _here(self) -> Json:
        return {"turn": self.turn, "step": self.step}

    def _system_message(self) -> None:
        plugin = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}
        source = {"kind": "system-prompt"} if self.version >= 4 else plugin
        message = {"role": "system", "content": [_text(SYSTEM_PROMPT)], "source": source, "id": self.new_id()}
        seq = self.emit("system/message", self._here() | {"message": message}, surfaceOp="append")
        self.surface.append(seq)

    def _runtime_context(self) -> Json:
        plugin = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}
        source = {"kind": "runtime-context"} if self.version >= 4 else plugin
        content = [_text(f"Current working directory: {json.dumps(self.cwd)}.")]
        return {
            "content": content,
            "source": source | {"form": "snapshot"},
            "role": "user",
            "id": self.new_id(),
        }

    def _user_message(self, message: Json, **envelope: Any) -> int:
        seq = self.emit("user/message", message, **(envelope or {"surfaceOp": "append"}))
        self.surface.append(seq)
        self.context_tokens += len(json.dumps(message)) // 4
        self.truth.counts["user_messages"] += 1
        return seq

    def _assistant_message(self, blocks: list[Json], usage: Usage | None, finish: Json | None) -> None:
        self.later(600, 9_000)
        source: Json = {"kind": "model", "provider": PROVIDER, "model": self.model}
        if self.version >= 4:
            response = {"kind": "deepseek-messages", "version": 1, "model": self.model}
            source["replayState"] = {"response": response}
        message = {"role": "assistant", "content": blocks, "source": source, "id": self.new_id()}
        data = self._here() | {"message": message}
        data |= {"usage": usage.stored(self.version)} if usage else {"interrupted": True}
        records = list(self._stream(blocks, usage, finish))
        if self.version >= 2:
            seq = self.emit("assistant/message", data | {"stream": records}, surfaceOp="append")
        else:
            sources = self._write_chunks(records)
            seq = self.emit("assistant/message", data, sourceEventSeqs=sources, surfaceOp="append")
        self._bill("message", usage)
        self.surface.append(seq)
        self.context_tokens += usage.output if usage else 0
        self.truth.counts["assistant_messages"] += 1

    def _stream(self, blocks: list[Json], usage: Usage | None, finish: Json | None) -> Iterator[Json]:
        """The records of a streamed reply: chunks, and runs of deltas."""

        def chunk(**fields: Any) -> Json:
            return {"type": "chunk", "time": self.at_ms, "chunk": fields}

        for index, block in enumerate(blocks):
            kind = block["type"]
            yield chunk(type="block-start", index=index, blockType=kind)
            pieces = re.findall(r"(?s).{1,24}", block.get("text") or block["arguments"])
            run: Json = {"type": f"{kind}-chunks", "time0": self.at_ms, "index": index}
            run["dt"] = [self.rng.randrange(0, 40) for _ in pieces[1:]]
            self.at_ms += sum(run["dt"])
            if kind == "tool-call":
                yield run | {"id": block["id"], "name": block["name"], "args": pieces}
            else:
                yield run | {"texts": pieces}
            yield chunk(type="block-end", index=index, block=block)
        if usage:
            yield chunk(type="usage", usage=usage.stored(self.version))
        if finish:
            yield chunk(type="finish", reason=finish)

    def _write_chunks(self, records: list[Json]) -> list[list[int]]:
        """A streamed reply as v0 kept it: chunk events, runs of three and more packed. Returns their seqs."""
        first, last_ms = self.seq, self.at_ms
        for record in records:
            if record["type"] == "chunk":
                self.at_ms = record["time"]
                self.emit("assistant/chunk", self._here() | {"chunk": record["chunk"]})
                continue
            pieces = record.get("args") or record["texts"]
            if len(pieces) >= 3:
                packed = {key: value for key, value in record.items() if key not in ("type", "time0")}
                row = {"type": record["type"], "seq0": self.seq, "time0": record["time0"]}
                self._line(row | {"data": self._here() | packed}, len(pieces))
                continue
            self.at_ms = record["time0"]
            for piece, gap_ms in zip(pieces, [*record["dt"], 0], strict=True):
                delta = {"type": record["type"].replace("-chunks", "-delta"), "index": record["index"]}
                named = (
                    {"id": record["id"], "name": record["name"], "argumentsDelta": piece}
                    if "id" in record
                    else {}
                )
                self.emit("assistant/chunk", self._here() | {"chunk": delta | (named or {"text": piece})})
                self.at_ms += gap_ms
        self.at_ms = last_ms
        return [[first, self.seq - 1]]

    def _call(self, block: Json) -> Call:
        self.later(1, 30)
        called = {"callId": block["id"], "name": block["name"], "arguments": block["arguments"]}
        call = Call(block["id"], block["name"], self.emit("tool/call", self._here() | called))
        self.calls[call.call_id] = call.name
        return call

    def _repair(self, call: Call, prefix: str, code: str) -> None:
        text = "The tool call was interrupted. Its outcome is unknown."
        error = {"error": {"name": "ToolInterruptedError", "code": code}}
        self._result(call, f"{prefix}-{call.call_id}-{self.seq}", text, True, error)
        self.answers[call.call_id] = ("interrupted", code)

    def _result(self, call: Call, message_id: str, text: str, is_error: bool, error: Json) -> None:
        source = {"kind": "tool", "callId": call.call_id}
        answered = {"toolCallId": call.call_id, "content": [_text(text)], "isError": is_error}
        if self.version >= 4:
            message = {"role": "tool", "source": source} | answered
        else:
            message = {"source": source, "content": [{"type": "tool-result"} | answered], "role": "user"}
        data = self._here() | {"message": message | {"id": message_id}} | error
        seq = self.emit("tool/result", data, sourceEventSeqs=[call.seq], surfaceOp="append")
        self.surface.append(seq)
        self.context_tokens += len(text) // 4

    def _call_model(self, blocks: list[Json]) -> Usage:
        """Send the conversation so far and get the blocks: what was sent before comes from the cache."""
        output = sum(len(json.dumps(block)) for block in blocks) // 4
        reasoning = sum(len(block["text"]) for block in blocks if block["type"] == "reasoning") // 4
        cache_read = min(self.cached_tokens, self.context_tokens) // 128 * 128
        self.cached_tokens = self.context_tokens
        return Usage(
            input=self.context_tokens - cache_read,
            output=output,
            cache_read=cache_read,
            cache_write=512 if self.version >= 4 and self.rng.random() < 0.1 else 0,
            reasoning=reasoning if self.version < 4 else 0,  # v4 does not say.
        )

    def _bill(self, kind: str, usage: Usage | None) -> None:
        if usage:
            day = datetime.fromtimestamp(self.at_ms / 1000, UTC).date().isoformat()
            for bucket in BUCKETS:
                self.truth.tokens[kind, self.model, day, bucket] += getattr(usage, bucket)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
