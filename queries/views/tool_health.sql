-- doc: How often each tool was called and how often that failed; repairs of interrupted sessions stand apart.
-- grain: one row per tool name
-- needs: tool_calls, tool_outcomes
-- error_rate is errors per own call; a tool of which only results are own has no calls and no rate.
with calls as (
    select
        name,
        count(*) as calls,
        count(*) filter (status = 'unanswered') as unanswered,
        quantile_cont(duration_ms, 0.5)::bigint as duration_ms_p50,
        quantile_cont(duration_ms, 0.9)::bigint as duration_ms_p90
    from tool_calls
    where not is_inherited and not is_recovered
    group by name
),

outcomes as (
    select
        name,
        count(*) filter (status = 'error') as errors,
        count(*) filter (status = 'interrupted') as interrupted
    from tool_outcomes
    group by name
)

select
    coalesce(c.name, o.name) as name,
    coalesce(c.calls, 0) as calls,
    coalesce(o.errors, 0) as errors,
    coalesce(o.interrupted, 0) as interrupted,
    coalesce(c.unanswered, 0) as unanswered,
    o.errors / nullif(c.calls, 0) as error_rate,
    c.duration_ms_p50,
    c.duration_ms_p90
from calls as c
full join outcomes as o on o.name is not distinct from c.name
order by calls desc, name
