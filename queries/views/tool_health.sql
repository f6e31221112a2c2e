-- doc: Each tool's calls, failures and how long its answers took.
-- grain: one row per tool name
-- needs: tool_errors, tool_calls
with timed as (
    select
        name,
        count(*) filter (status = 'unanswered') as unanswered,
        quantile_cont(duration_ms, 0.5)::bigint as duration_ms_p50,
        quantile_cont(duration_ms, 0.9)::bigint as duration_ms_p90
    from tool_calls
    where not is_inherited and not is_recovered
    group by name
)

select e.*, coalesce(t.unanswered, 0) as unanswered, t.duration_ms_p50, t.duration_ms_p90
from tool_errors as e
left join timed as t on t.name is not distinct from e.name
order by e.calls desc, e.name
