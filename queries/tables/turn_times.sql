-- doc: When each own turn began and ended, how, and what its events state.
-- grain: one row per turn that begins, ends or states something; turn is null for what is stated outside of turns
-- needs: own_facts
-- Approvals, compactions and requests by themselves make no turn: is_turn is false. What lies in the steps of a turn is in
-- step_times. asked_model is the first that was asked, else that of the request that was open when the turn began. A turn
-- that was closed when a killed session was resumed (outcome interrupted) has no duration_ms.
with turns as (
    select
        source_key, turn,
        min(line) as first_line,
        min(case type when 'turn/start' then line end) as line,
        min(case type when 'turn/start' then "at" end) as started_at,
        max(case type when 'turn/end' then "at" end) as ended_at,
        arg_max({outcome: outcome, cause: cause, code: code, http_status: http_status}, line)
            filter (type = 'turn/end') as ending,
        coalesce(
            arg_min(model, line)
                filter (type in ('assistant/attempt', 'assistant/chunk', 'request/header', 'request/context')),
            arg_min(model, line) filter (type = 'turn/start')
        ) as asked_model,
        count(*) filter (type = 'turn/start') as starts,
        count(*) filter (type = 'turn/end') as ends,
        count(*) filter (type = 'llm/retry') as retries,
        count(*) filter (type in ('assistant/attempt', 'assistant/chunk')) as attempts,
        count(*) filter (type = 'approval/asked') as approvals,
        count(*) filter (type = 'compaction/start') as compactions
    from own_facts
    where type in (
        'turn/start', 'turn/end', 'llm/retry', 'assistant/attempt', 'assistant/chunk', 'request/header', 'request/context',
        'approval/asked', 'compaction/start'
    )
    group by source_key, turn
)

select
    *,
    starts > 0 or ends > 0 or retries > 0 or attempts > 0 as is_turn,
    case when ending.outcome is distinct from 'interrupted' then elapsed_ms(started_at, ended_at) end as duration_ms
from turns
