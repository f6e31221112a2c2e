-- doc: When what happened in each own step: beginning, retries, first part of the reply, reply, end.
-- grain: one row per step with own events; step is null for replies outside of steps
-- needs: reply_chunks, own_events, own_facts, own_messages
-- An attempt is a request that came to nothing; of formats 0 and 1 it is known where its stream ended in an error.
-- duration_ms is up to the step's end, tool_ms from its reply to there. What was open when a session was killed is closed
-- when it is resumed, all within a moment: a step that ends less than a second before such an end of its turn has neither.
with requests as not materialized (
    select
        source_key, turn, step, "at",
        case type when 'llm/retry' then 'retry' when 'llm/retry-started' then 'retried' else 'attempt' end as type
    from own_facts
    where type in ('llm/retry', 'llm/retry-started', 'assistant/attempt', 'assistant/chunk')
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
    from own_messages
    where role = 'assistant' and not is_replacement
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
),

-- Turns that were closed by a repair.
repaired as (
    select source_key, turn, max("at") - to_seconds(1) as closed_from
    from own_facts
    where type = 'turn/end' and outcome = 'interrupted'
    group by source_key, turn
),

steps as (
    select k.*, coalesce(k.ended_at >= p.closed_from, false) as is_repaired
    from steps_known as k
    left join repaired as p on p.source_key = k.source_key and p.turn is not distinct from k.turn
)

select
    coalesce(k.source_key, r.source_key) as source_key,
    coalesce(k.turn, r.turn) as turn,
    coalesce(k.step, r.step) as step,
    k.line, k.started_at, k.ended_at, k.replied_at, k.first_chunk_at, r.retried_at, k.requested_calls,
    case when not k.is_repaired then elapsed_ms(k.started_at, k.ended_at) end as duration_ms,
    case when not k.is_repaired and k.requested_calls > 0 then elapsed_ms(k.replied_at, k.ended_at) end as tool_ms,
    coalesce(k.is_interrupted, false) as is_interrupted,
    coalesce(k.replies, 0) as replies,
    coalesce(r.retries, 0) as retries,
    coalesce(r.attempts, 0) as attempts
from steps as k
full join requested as r
    on r.source_key = k.source_key
    and r.turn is not distinct from k.turn
    and r.step is not distinct from k.step
