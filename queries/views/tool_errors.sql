-- doc: How often each tool was called and how often that failed; repairs of interrupted sessions stand apart.
-- grain: one row per tool name
-- needs: calls, named_outcomes
-- error_rate is errors per own call; a tool of which only results are own has no calls and no rate.
with outcomes as (
    select
        name,
        count(*) filter (status = 'error') as errors,
        count(*) filter (status = 'interrupted') as interrupted
    from named_outcomes
    group by name
),

own as (select name, count(*) as calls from calls where not is_inherited and not is_recovered group by name)

select
    coalesce(c.name, o.name) as name,
    coalesce(c.calls, 0) as calls,
    coalesce(o.errors, 0) as errors,
    coalesce(o.interrupted, 0) as interrupted,
    coalesce(o.errors, 0) / nullif(c.calls, 0) as error_rate
from own as c
full join outcomes as o on o.name is not distinct from c.name
order by calls desc, name
