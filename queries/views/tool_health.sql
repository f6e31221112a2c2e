-- doc: Each tool's calls, failures, how long its answers took and how long they were.
-- grain: one row per tool name
-- needs: call_outcomes, wilson_interval
-- error_rate_low and error_rate_high enclose the true rate with 95 % confidence (Wilson's interval): few calls, wide
-- interval. Durations are of own answered calls, approval waits included; result_chars are of the results that count.
with outcomes as not materialized (
    select
        name, own_status, result_chars, status, duration_ms,
        is_called and not is_inherited and not is_recovered as is_own
    from call_outcomes
),

counted as (
    select
        name,
        count(*) filter (is_own) as calls,
        count(own_status) as results,
        count(*) filter (own_status = 'error') as errors,
        count(*) filter (own_status = 'interrupted') as interrupted,
        count(*) filter (is_own and status is null) as unanswered,
        quantile_cont(duration_ms, [0.5, 0.9, 0.99]) filter (is_own) as duration_ms,
        quantile_cont(result_chars, [0.5, 0.99]) filter (is_own) as result_chars,
        try_cast(sum(result_chars) filter (is_own) as bigint) as result_chars_sum
    from outcomes
    group by name
)

select
    c.name, c.calls, c.errors, c.interrupted,
    c.errors / nullif(c.calls, 0) as error_rate,
    c.unanswered,
    c.duration_ms[1]::bigint as duration_ms_p50,
    c.duration_ms[2]::bigint as duration_ms_p90,
    c.duration_ms[3]::bigint as duration_ms_p99,
    w.low as error_rate_low,
    w.high as error_rate_high,
    c.result_chars_sum as result_chars,
    c.result_chars[1]::bigint as result_chars_p50,
    c.result_chars[2]::bigint as result_chars_p99
from counted as c,
    wilson_interval(c.errors, c.calls) as w
where c.calls > 0 or c.results > 0
order by c.calls desc, c.name
