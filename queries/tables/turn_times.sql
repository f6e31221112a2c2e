-- doc: When each own turn began and ended, how, and what its events state.
-- grain: one row per turn that begins, ends or states something; turn is null for what is stated outside of turns
-- needs: stored.events, stored.event_facts, source_status
-- What lies in the steps of a turn is in step_times.
with counted as (select source_key, first_batch, last_batch, inherited_cut from source_status where is_counted),

marks as (
    select
        e.source_key, e.turn,
        min(case e.type when 'turn/start' then e.line end) as line,
        min(case e.type when 'turn/start' then e."at" end) as started_at,
        max(case e.type when 'turn/end' then e."at" end) as ended_at,
        count(case e.type when 'turn/start' then 1 end) as starts,
        count(case e.type when 'turn/end' then 1 end) as ends
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
        count(*) filter (f.type = 'llm/retry') as retries,
        count(*) filter (f.type in ('assistant/attempt', 'assistant/chunk')) as attempts,
        count(*) filter (f.type = 'approval/asked') as approvals,
        count(*) filter (f.type = 'compaction/start') as compactions
    from stored.event_facts as f
    inner join counted as s
        on f.source_key = s.source_key
        and f.batch between s.first_batch and s.last_batch
        and (not f.is_tail or f.batch = s.last_batch)
    where not f.is_recovered and f.seq >= s.inherited_cut
        and f.type in (
            'turn/end', 'llm/retry', 'assistant/attempt', 'assistant/chunk', 'approval/asked', 'compaction/start'
        )
    group by f.source_key, f.turn
)

select
    coalesce(m.source_key, e.source_key) as source_key,
    coalesce(m.turn, e.turn) as turn,
    m.line, m.started_at, m.ended_at, e.ending,
    coalesce(m.starts, 0) as starts,
    coalesce(m.ends, 0) as ends,
    coalesce(e.retries, 0) as retries,
    coalesce(e.attempts, 0) as attempts,
    coalesce(e.approvals, 0) as approvals,
    coalesce(e.compactions, 0) as compactions
from marks as m
full join stated as e on e.source_key = m.source_key and e.turn is not distinct from m.turn
