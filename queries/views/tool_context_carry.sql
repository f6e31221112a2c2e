-- doc: What the results of each tool went on to weigh in the context of later model calls.
-- grain: one row per tool name
-- needs: call_context_carry
-- See call_context_carry. share is of the carried characters of all tools; later_calls_mean is how many model calls
-- read a result, on average.
with summed as (
    select
        name,
        count(*) as calls,
        count(later_calls) as results,
        try_cast(sum(result_chars) as bigint) as result_chars,
        avg(later_calls) as later_calls_mean,
        count(*) filter (is_removed) as removed,
        try_cast(sum(carried_chars) as bigint) as carried_chars
    from call_context_carry
    group by name
)

select *, carried_chars / nullif(sum(carried_chars) over (), 0) as share
from summed
order by carried_chars desc nulls last, name
