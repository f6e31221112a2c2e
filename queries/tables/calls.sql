-- doc: Tool calls by themselves, numbered where a session uses an id again.
-- grain: one row per tool call
-- needs: stored.tool_calls, source_status
-- Files that use an id again are few, and known: only their calls need to be sorted.
with current_rows as not materialized (
    select
        c.source_key, s.source_id, s.session_id, c.line, c.seq, c.call_id, c.at, c.turn, c.step, c.name, c.arguments,
        c.arguments_sha256, c.model, c.is_recovered, c.seq < s.inherited_cut as is_inherited,
        s.has_repeated_calls as may_repeat
    from stored.tool_calls as c
    inner join source_status as s
        on c.source_key = s.source_key
        and c.batch between s.first_batch and s.last_batch
        and (not c.is_tail or c.batch = s.last_batch)
    where s.is_counted
)

select *, 1::bigint as call_number from current_rows where not may_repeat
union all
select *, row_number() over (partition by source_key, call_id, is_recovered order by line, seq) as call_number
from current_rows
where may_repeat
