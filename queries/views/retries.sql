-- doc: Requests that were made again: after which failure and what wait, and what came of it.
-- grain: one row per llm/retry
-- needs: event_facts, messages
-- result: retried (failed once more, and was made again), answered (a reply came in that step), failed (the turn ended
-- without one); null where the session does not go on.
with own as (select * from event_facts where not is_inherited and not is_recovered),

asked as (
    select
        *,
        lead(line) over (partition by source_id, turn, step order by line, seq) as next_line
    from own
    where type = 'llm/retry'
),

begun as (
    select source_id, turn, step, subject_id, ordinal, min("at") as "at"
    from own
    where type = 'llm/retry-started'
    group by source_id, turn, step, subject_id, ordinal
),

answered as (
    select source_id, turn, step, max(line) as line
    from messages
    where role = 'assistant' and not is_recovered
    group by source_id, turn, step
),

ended as (select source_id, turn, max(line) as line from own where type = 'turn/end' group by source_id, turn)

select
    r.session_id, r.source_id, r.line, r.seq, r."at", r.turn, r.step,
    r.subject_id as retry_id, r.ordinal, r.provider, r.code, r.http_status, r.delay_ms,
    b."at" as started_at,
    case
        when r.next_line is not null then 'retried'
        when a.line > r.line then 'answered'
        when e.line > r.line then 'failed'
    end as result
from asked as r
left join begun as b
    on b.source_id = r.source_id and b.turn = r.turn and b.step = r.step
    and b.subject_id is not distinct from r.subject_id and b.ordinal = r.ordinal
left join answered as a on a.source_id = r.source_id and a.turn = r.turn and a.step = r.step
left join ended as e on e.source_id = r.source_id and e.turn = r.turn
