-- doc: Each tool's calls, failures, how long its answers took and how long they were.
-- grain: one row per tool name
-- needs: tool_errors, tool_calls, wilson_interval
-- error_rate_low and error_rate_high enclose the true rate with 95 % confidence (Wilson's interval): few calls, wide
-- interval. Durations are of own answered calls, approval waits included; result_chars are of the results that count.
with timed as (
    select
        name,
        count(*) filter (status = 'unanswered') as unanswered,
        quantile_cont(duration_ms, [0.5, 0.9, 0.99]) as duration_ms,
        quantile_cont(result_chars, [0.5, 0.99]) as result_chars,
        try_cast(sum(result_chars) as bigint) as result_chars_sum
    from tool_calls
    where not is_inherited and not is_recovered
    group by name
)

select
    e.*,
    coalesce(t.unanswered, 0) as unanswered,
    t.duration_ms[1]::bigint as duration_ms_p50,
    t.duration_ms[2]::bigint as duration_ms_p90,
    t.duration_ms[3]::bigint as duration_ms_p99,
    w.low as error_rate_low,
    w.high as error_rate_high,
    t.result_chars_sum as result_chars,
    t.result_chars[1]::bigint as result_chars_p50,
    t.result_chars[2]::bigint as result_chars_p99
from tool_errors as e
left join timed as t on t.name is not distinct from e.name,
    wilson_interval(e.errors, e.calls) as w
order by e.calls desc, e.name
