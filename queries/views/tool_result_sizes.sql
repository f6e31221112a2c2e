-- doc: How long the results of each tool are, in characters.
-- grain: one row per tool name
-- needs: tool_calls
-- Of own calls, the result that counts for each. share is of the characters of all tools' results.
with sized as (
    select
        name,
        count(*) as calls,
        count(result_line) as results,
        try_cast(sum(result_chars) as bigint) as result_chars,
        quantile_cont(result_chars, [0.5, 0.9, 0.99]) as chars,
        max(result_chars) as result_chars_max
    from tool_calls
    where not is_inherited and not is_recovered
    group by name
)

select
    name, calls, results, result_chars,
    result_chars / nullif(sum(result_chars) over (), 0) as share,
    chars[1]::bigint as result_chars_p50,
    chars[2]::bigint as result_chars_p90,
    chars[3]::bigint as result_chars_p99,
    result_chars_max
from sized
order by result_chars desc nulls last, name
