-- doc: What is counted of agents' work, thing by thing, each with its time, workspace, model and tool.
-- grain: one row per session, turn, human message, tool call, tool outcome and billed model call
-- needs: sessions, turns, messages, tool_calls, tool_outcomes, calls, tool_results, priced_usage
-- Own events only. kind says which of the six a row is; columns of the others are null. A turn and its human messages
-- belong to the model of the turn's first reply, a tool call to that of its step, a session to that of its first; null
-- where none was billed. An outcome has the time of its call, or its own where the call is inherited or absent.
with replies as (
    select source_id, turn, step, line, model from priced_usage where kind <> 'compaction' and model is not null
),

step_models as (select source_id, turn, step, arg_max(model, line) as model from replies group by source_id, turn, step),

turn_models as (select source_id, turn, arg_min(model, line) as model from replies group by source_id, turn),

session_models as (select source_id, arg_min(model, line) as model from replies group by source_id),

things as (
    select 'session' as kind, s.source_id, coalesce(s.created_at, s.first_event_at) as "at", m.model
    from sessions as s
    left join session_models as m using (source_id)
    union all by name
    select
        'turn' as kind, t.source_id, coalesce(t.started_at, t.ended_at) as "at", m.model, t.outcome as status,
        t.duration_ms, t.first_token_ms, t.starts, t.retries, t.attempts
    from turns as t
    left join turn_models as m on m.source_id = t.source_id and m.turn = t.turn
    union all by name
    select 'human message' as kind, h.source_id, h."at", m.model
    from messages as h
    left join turn_models as m on m.source_id = h.source_id and m.turn = h.turn
    where h.is_human and not h.is_inherited and not h.is_recovered
    union all by name
    select 'tool call' as kind, c.source_id, c.called_at as "at", m.model, c.name as tool, c.status, c.duration_ms
    from tool_calls as c
    left join step_models as m on m.source_id = c.source_id and m.turn = c.turn and m.step = c.step
    where not c.is_inherited and not c.is_recovered
    union all by name
    select
        'tool outcome' as kind, o.source_id, case when c.is_inherited = false then c."at" else r."at" end as "at",
        m.model, c.name as tool, o.status
    from tool_outcomes as o
    left join calls as c
        on c.source_key = o.source_key and c.call_id = o.call_id and c.call_number = o.call_number
        and not c.is_recovered
    left join tool_results as r on r.source_id = o.source_id and r.line = o.line and r.seq = o.seq
    left join step_models as m on m.source_id = o.source_id and m.turn = c.turn and m.step = c.step
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
left join sessions as s using (source_id)
