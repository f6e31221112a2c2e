-- doc: How often each tool was called and how often that failed; repairs of interrupted sessions stand apart.
-- grain: one row per tool name
-- needs: call_outcomes
-- error_rate is errors per own call; a tool of which only results are own has no calls and no rate.
with counted as (
    select
        name,
        count(*) filter (is_called and not is_inherited and not is_recovered) as calls,
        count(own_status) as results,
        count(*) filter (own_status = 'error') as errors,
        count(*) filter (own_status = 'interrupted') as interrupted
    from call_outcomes
    group by name
)

select name, calls, errors, interrupted, errors / nullif(calls, 0) as error_rate
from counted
where calls > 0 or results > 0
order by calls desc, name
