-- doc: Turns: how long, how they ended, how many steps, and where the time went.
-- grain: one row per turn of a session's own; turn is null for steps outside of turns
-- needs: turn_times, step_times, own_messages, source_status
-- outcome, cause and code are the producer's words; outcome is null where the turn has no end: still running, or killed.
-- A turn whose beginning was inherited has no started_at and no starts, one that was closed when the session was resumed
-- after a kill (outcome interrupted) no duration_ms and no other_ms. first_token_ms is from the turn's start to the
-- first part of its first reply; model_ms and tool_ms are sums over its steps (see steps), other_ms the rest.
with asked as (
    select source_key, turn, count(*) as human_messages from own_messages where is_human group by source_key, turn
),

worked as (
    select
        source_key, turn,
        count(line) as steps,
        sum(replies)::bigint as replies,
        sum(requested_calls)::bigint as requested_calls,
        min(first_chunk_at) as first_chunk_at,
        sum(elapsed_ms(started_at, replied_at))::bigint as model_ms,
        sum(tool_ms)::bigint as tool_ms,
        bool_or(is_interrupted) as is_interrupted
    from step_times
    group by source_key, turn
)

select
    s.session_id, s.source_id, coalesce(t.turn, w.turn) as turn, t.line, t.started_at, t.ended_at,
    t.duration_ms,
    t.ending.outcome as outcome, t.ending.cause as cause, t.ending.code as code,
    t.ending.http_status as http_status,
    elapsed_ms(t.started_at, w.first_chunk_at) as first_token_ms,
    w.model_ms, w.tool_ms,
    t.duration_ms - coalesce(w.model_ms, 0) - coalesce(w.tool_ms, 0) as other_ms,
    coalesce(t.starts, 0) as starts,
    coalesce(t.ends, 0) as ends,
    coalesce(w.steps, 0) as steps,
    coalesce(w.replies, 0) as replies,
    coalesce(w.requested_calls, 0) as requested_calls,
    coalesce(t.retries, 0) as retries,
    coalesce(t.attempts, 0) as attempts,
    coalesce(t.approvals, 0) as approvals,
    coalesce(t.compactions, 0) as compactions,
    coalesce(a.human_messages, 0) as human_messages,
    coalesce(w.is_interrupted, false) as is_interrupted
from turn_times as t
full join worked as w on w.source_key = t.source_key and w.turn is not distinct from t.turn
left join asked as a
    on a.source_key = coalesce(t.source_key, w.source_key) and a.turn is not distinct from coalesce(t.turn, w.turn)
inner join source_status as s on s.source_key = coalesce(t.source_key, w.source_key)
-- Approvals and compactions by themselves make no turn.
where t.starts > 0 or t.ends > 0 or w.source_key is not null
