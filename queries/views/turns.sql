-- doc: Turns: how long, how they ended, how many steps, and where the time went.
-- grain: one row per turn of a session's own; turn is null for steps outside of turns
-- needs: step_times, stored.events, stored.event_facts, stored.messages, source_status
-- outcome, cause and code are the producer's words; outcome is null where the turn has no end: still running, or killed.
-- A turn whose beginning was inherited has no started_at and no starts. first_token_ms is from the turn's start to the
-- first part of its first reply; model_ms and tool_ms are sums over its steps (see steps), other_ms the rest.
with counted as (select source_key, first_batch, last_batch, inherited_cut from source_status where is_counted),

marks as (
    select
        e.source_key, e.turn,
        min(e.line) filter (e.type = 'turn/start') as line,
        min(e."at") filter (e.type = 'turn/start') as started_at,
        max(e."at") filter (e.type = 'turn/end') as ended_at,
        count(*) filter (e.type = 'turn/start') as starts,
        count(*) filter (e.type = 'turn/end') as ends
    from stored.events as e
    inner join counted as s
        on e.source_key = s.source_key
        and e.batch between s.first_batch and s.last_batch
        and (not e.is_tail or e.batch = s.last_batch)
    where not e.is_recovered and e.seq >= s.inherited_cut and e.type in ('turn/start', 'turn/end')
    group by e.source_key, e.turn
),

stated as (
    select
        f.source_key, f.turn,
        arg_max({outcome: f.outcome, cause: f.cause, code: f.code, http_status: f.http_status}, f.line)
            filter (f.type = 'turn/end') as ending,
        count(*) filter (f.type = 'approval/asked') as approvals,
        count(*) filter (f.type = 'compaction/start') as compactions
    from stored.event_facts as f
    inner join counted as s
        on f.source_key = s.source_key
        and f.batch between s.first_batch and s.last_batch
        and (not f.is_tail or f.batch = s.last_batch)
    where not f.is_recovered and f.seq >= s.inherited_cut
        and f.type in ('turn/end', 'approval/asked', 'compaction/start')
    group by f.source_key, f.turn
),

asked as (
    select m.source_key, m.turn, count(*) as human_messages
    from stored.messages as m
    inner join counted as s
        on m.source_key = s.source_key
        and m.batch between s.first_batch and s.last_batch
        and (not m.is_tail or m.batch = s.last_batch)
    where not m.is_recovered and m.seq >= s.inherited_cut and m.is_human
    group by m.source_key, m.turn
),

worked as (
    select
        source_key, turn,
        count(line) as steps,
        sum(replies)::bigint as replies,
        sum(requested_calls)::bigint as requested_calls,
        sum(retries)::bigint as retries,
        sum(attempts)::bigint as attempts,
        min(first_chunk_at) as first_chunk_at,
        sum(elapsed_ms(started_at, replied_at))::bigint as model_ms,
        sum(case when requested_calls > 0 then elapsed_ms(replied_at, ended_at) end)::bigint as tool_ms,
        bool_or(is_interrupted) as is_interrupted
    from step_times
    group by source_key, turn
),

turns_known as (
    select source_key, turn from marks
    union
    select source_key, turn from worked
)

select
    s.session_id, s.source_id, t.turn, m.line, m.started_at, m.ended_at,
    elapsed_ms(m.started_at, m.ended_at) as duration_ms,
    e.ending.outcome as outcome, e.ending.cause as cause, e.ending.code as code,
    e.ending.http_status as http_status,
    elapsed_ms(m.started_at, w.first_chunk_at) as first_token_ms,
    w.model_ms, w.tool_ms,
    elapsed_ms(m.started_at, m.ended_at) - coalesce(w.model_ms, 0) - coalesce(w.tool_ms, 0) as other_ms,
    coalesce(m.starts, 0) as starts,
    coalesce(m.ends, 0) as ends,
    coalesce(w.steps, 0) as steps,
    coalesce(w.replies, 0) as replies,
    coalesce(w.requested_calls, 0) as requested_calls,
    coalesce(w.retries, 0) as retries,
    coalesce(w.attempts, 0) as attempts,
    coalesce(e.approvals, 0) as approvals,
    coalesce(e.compactions, 0) as compactions,
    coalesce(a.human_messages, 0) as human_messages,
    coalesce(w.is_interrupted, false) as is_interrupted
from turns_known as t
left join marks as m on m.source_key = t.source_key and m.turn is not distinct from t.turn
left join worked as w on w.source_key = t.source_key and w.turn is not distinct from t.turn
left join stated as e on e.source_key = t.source_key and e.turn is not distinct from t.turn
left join asked as a on a.source_key = t.source_key and a.turn is not distinct from t.turn
inner join source_status as s on s.source_key = t.source_key
