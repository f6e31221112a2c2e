-- doc: When each own turn began and ended, how, and what its events state.
-- grain: one row per turn that begins, ends or states something; turn is null for what is stated outside of turns
-- needs: stored.event_facts, source_status
-- What lies in the steps of a turn is in step_times.
select
    f.source_key, f.turn,
    min(case f.type when 'turn/start' then f.line end) as line,
    min(case f.type when 'turn/start' then f."at" end) as started_at,
    max(case f.type when 'turn/end' then f."at" end) as ended_at,
    arg_max({outcome: f.outcome, cause: f.cause, code: f.code, http_status: f.http_status}, f.line)
        filter (f.type = 'turn/end') as ending,
    count(*) filter (f.type = 'turn/start') as starts,
    count(*) filter (f.type = 'turn/end') as ends,
    count(*) filter (f.type = 'llm/retry') as retries,
    count(*) filter (f.type in ('assistant/attempt', 'assistant/chunk')) as attempts,
    count(*) filter (f.type = 'approval/asked') as approvals,
    count(*) filter (f.type = 'compaction/start') as compactions
from stored.event_facts as f
inner join source_status as s
    on f.source_key = s.source_key
    and f.batch between s.first_batch and s.last_batch
    and (not f.is_tail or f.batch = s.last_batch)
where s.is_counted and not f.is_recovered and f.seq >= s.inherited_cut
    and f.type in (
        'turn/start', 'turn/end', 'llm/retry', 'assistant/attempt', 'assistant/chunk', 'approval/asked',
        'compaction/start'
    )
group by f.source_key, f.turn
