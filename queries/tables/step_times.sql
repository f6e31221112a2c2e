-- doc: When what happened in each own step: beginning, retries, first part of the reply, reply, end.
-- grain: one row per step with own events; step is null for replies outside of steps
-- needs: reply_chunks, stored.events, stored.event_facts, stored.messages, source_status
-- An attempt is a request that came to nothing; of formats 0 and 1 it is known where its stream ended in an error.
with counted as (select source_key, first_batch, last_batch, inherited_cut from source_status where is_counted),

own_events as not materialized (
    select e.source_key, e.turn, e.step, e.line, e.type, e."at"
    from stored.events as e
    inner join counted as s
        on e.source_key = s.source_key
        and e.batch between s.first_batch and s.last_batch
        and (not e.is_tail or e.batch = s.last_batch)
    where not e.is_recovered and e.seq >= s.inherited_cut
),

requests as not materialized (
    select
        f.source_key, f.turn, f.step, f.line, f."at",
        case f.type when 'llm/retry' then 'retry' when 'llm/retry-started' then 'retried' else 'attempt' end as type
    from stored.event_facts as f
    inner join counted as s
        on f.source_key = s.source_key
        and f.batch between s.first_batch and s.last_batch
        and (not f.is_tail or f.batch = s.last_batch)
    where not f.is_recovered and f.seq >= s.inherited_cut
        and f.type in ('llm/retry', 'llm/retry-started', 'assistant/attempt', 'assistant/chunk')
),

replies as not materialized (
    select m.source_key, m.turn, m.step, m.line, m."at", m.first_chunk_at, m.tool_call_count, m.is_interrupted
    from stored.messages as m
    inner join counted as s
        on m.source_key = s.source_key
        and m.batch between s.first_batch and s.last_batch
        and (not m.is_tail or m.batch = s.last_batch)
    where not m.is_recovered and m.seq >= s.inherited_cut and m.role = 'assistant' and not m.is_replacement
),

moments as (
    select
        source_key, turn, step,
        case type when 'step/start' then line end as line,
        case type when 'step/start' then "at" end as started_at,
        case type when 'step/end' then "at" end as ended_at
    from own_events
    where type in ('step/start', 'step/end')
    union all by name
    select
        source_key, turn, step, line as reply_line, "at" as replied_at, first_chunk_at, tool_call_count, is_interrupted
    from replies
    union all by name
    select source_key, turn, step, first_chunk_at from reply_chunks
),

steps_known as (
    select
        source_key, turn, step,
        min(line) as line,
        min(started_at) as started_at,
        max(ended_at) as ended_at,
        max(replied_at) as replied_at,
        count(reply_line) as replies,
        min(first_chunk_at) as first_chunk_at,
        max(tool_call_count) as requested_calls,
        max(is_interrupted) as is_interrupted
    from moments
    group by source_key, turn, step
),

requested as (
    select
        source_key, turn, step,
        max("at") filter (type = 'retried') as retried_at,
        count(*) filter (type = 'retry') as retries,
        count(*) filter (type = 'attempt') as attempts
    from requests
    group by source_key, turn, step
)

select
    coalesce(k.source_key, r.source_key) as source_key,
    coalesce(k.turn, r.turn) as turn,
    coalesce(k.step, r.step) as step,
    k.line, k.started_at, k.ended_at, k.replied_at, k.first_chunk_at, r.retried_at, k.requested_calls,
    coalesce(k.is_interrupted, false) as is_interrupted,
    coalesce(k.replies, 0) as replies,
    coalesce(r.retries, 0) as retries,
    coalesce(r.attempts, 0) as attempts
from steps_known as k
full join requested as r
    on r.source_key = k.source_key
    and r.turn is not distinct from k.turn
    and r.step is not distinct from k.step
