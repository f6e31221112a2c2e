-- doc: Tools within a period: calls, how they ended, how long answers took, and the call that took longest.
-- grain: one row per tool name
-- needs: call_outcomes, wilson_interval
-- params: from_at, to_at
-- An outcome belongs to the time of its call, or to its own where the call is inherited or absent. error_rate_low and
-- error_rate_high are Wilson's interval of 95 %. Durations are of own answered calls, approval waits included.
with outcomes as not materialized (
    select
        name, session_id, seq, status, own_status, duration_ms,
        is_called and not is_inherited and not is_recovered as is_own,
        case when is_called and not is_inherited then called_at else own_at end as "at"
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
        max(duration_ms) filter (is_own) as longest_ms,
        arg_max(session_id, duration_ms) filter (is_own) as longest_session_id,
        arg_max(seq, duration_ms) filter (is_own) as longest_seq,
        try_cast(sum(duration_ms) filter (is_own) as bigint) as total_ms
    from outcomes
    where coalesce("at" >= $from_at::timestamptz and "at" < $to_at::timestamptz, $from_at is null)
    group by name
),

together as (
    select
        name, calls, errors, interrupted, unanswered,
        duration_ms[1]::bigint as duration_ms_p50,
        duration_ms[2]::bigint as duration_ms_p90,
        duration_ms[3]::bigint as duration_ms_p99,
        longest_ms, longest_session_id, longest_seq, total_ms
    from counted
    where calls > 0 or results > 0
)

select
    t.*, t.errors / nullif(t.calls, 0) as error_rate, w.low as error_rate_low, w.high as error_rate_high
from together as t, wilson_interval(t.errors, t.calls) as w
order by t.calls desc, t.name
