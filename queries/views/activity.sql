-- doc: What is counted of agents' work, thing by thing, each with its time, workspace, model and tool.
-- grain: one row per session, turn, human message, tool call, result of a call that is not own, and billed model call
-- needs: sessions, turn_times, reply_chunks, own_messages, call_outcomes, priced_usage, source_status
-- Own events only. kind says which of the six a row is; columns of the others are null. A turn is one that begins, ends
-- or has retries or failed attempts here. A turn and its human messages belong to the model of the turn's first reply, or
-- to the first that it asked where none came, a tool call to that of the reply that made it, a session to that of its
-- first turn that has one; null where none is known. A tool call has the status of its own result that counts (see
-- call_outcomes); a result whose call is inherited or absent is a row of its own, at its own time.
with logs as materialized (
    select source_id, session_id, origin, workspace, coalesce(created_at, first_event_at) as started_at from sessions
),

replies as (
    select
        source_id, turn, min(line) as first_line, min(first_chunk_at) as first_chunk_at, arg_min(model, line) as model
    from (
        select source_id, turn, line, first_chunk_at, model
        from own_messages
        where role = 'assistant' and not is_replacement
        union all
        select source_id, turn, null as line, first_chunk_at, null as model from reply_chunks
    )
    group by source_id, turn
),

own_turns as materialized (
    select
        coalesce(t.source_id, r.source_id) as source_id,
        coalesce(t.turn, r.turn) as turn,
        coalesce(t.first_line, r.first_line) as first_line,
        coalesce(r.model, t.asked_model) as model,
        t.is_turn,
        coalesce(t.started_at, t.ended_at) as "at",
        t.ending.outcome as status,
        t.duration_ms,
        elapsed_ms(t.started_at, r.first_chunk_at) as first_token_ms,
        t.starts, t.retries, t.attempts
    from (select s.source_id, t.* from turn_times as t inner join source_status as s using (source_key)) as t
    full join replies as r on r.source_id = t.source_id and r.turn is not distinct from t.turn
),

session_models as (select source_id, arg_min(model, first_line) as model from own_turns group by source_id),

tool_use as (
    select
        source_id, model, name as tool, is_called and not is_inherited and not is_recovered as is_own_call,
        called_at, result_at, own_status, duration_ms
    from call_outcomes
),

things as (
    select 'session' as kind, s.source_id, s.started_at as "at", m.model
    from logs as s
    left join session_models as m using (source_id)
    union all by name
    select
        'turn' as kind, source_id, "at", model, status, duration_ms, first_token_ms, starts, retries, attempts
    from own_turns
    where is_turn
    union all by name
    select 'human message' as kind, h.source_id, h."at", t.model
    from own_messages as h
    left join own_turns as t on t.source_id = h.source_id and t.turn = h.turn
    where h.is_human
    union all by name
    select
        case when t.is_own_call then 'tool call' else 'tool result' end as kind, t.source_id,
        case when t.is_own_call then t.called_at else t.result_at end as "at", t.model, t.tool,
        coalesce(t.own_status, 'unanswered') as status,
        case when t.is_own_call then t.duration_ms end as duration_ms
    from tool_use as t
    where t.is_own_call or t.own_status is not null
    union all by name
    select
        'billed call' as kind, source_id, "at", model, kind as status, input_tokens, output_tokens, cache_read_tokens,
        cache_write_tokens, reasoning_tokens, billed_tokens as total_tokens, amount, currency
    from priced_usage
)

select
    t.kind, s.session_id, t.source_id, s.origin, s.workspace, t."at", t.model, t.tool, t.status,
    t.duration_ms, t.first_token_ms, t.starts, t.retries, t.attempts,
    t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.reasoning_tokens, t.total_tokens,
    t.amount, t.currency
from things as t
left join logs as s using (source_id)
