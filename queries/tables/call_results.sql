-- doc: Results that answer calls: re-renderings left out, each with the number of the call that it answers.
-- grain: one row per result that is no re-rendering and not recovered
-- needs: stored.tool_calls, tool_results, source_status
-- An id may be used again within a session: a result answers the last call of its id before it, or the
-- first one where it stands before any.
with marks as (
    select s.source_id, c.call_id, c.line, c.seq, 1 as is_call
    from stored.tool_calls as c
    inner join source_status as s
        on c.source_key = s.source_key and c.batch between s.first_batch and s.last_batch
    where s.is_counted and not c.is_recovered
    union all
    select source_id, call_id, line, seq, 0 as is_call
    from tool_results
    where not is_replacement and not is_recovered
),

numbered as (
    select
        source_id, call_id, line, seq, is_call,
        greatest(1, sum(is_call) over (partition by source_id, call_id order by line, seq, is_call))::bigint
            as call_number
    from marks
)

select r.*, n.call_number
from tool_results as r
inner join numbered as n on n.is_call = 0 and n.source_id = r.source_id and n.line = r.line and n.seq = r.seq
where not r.is_replacement and not r.is_recovered
