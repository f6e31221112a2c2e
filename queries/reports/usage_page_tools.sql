-- doc: Tools within a period: calls, how they ended, how long answers took, and the call that took longest.
-- grain: one row per tool name
-- needs: calls, tool_calls, tool_outcomes, call_results, wilson_interval
-- params: from_at, to_at
-- An outcome belongs to the time of its call, or to its own where the call is inherited or absent. error_rate_low and
-- error_rate_high are Wilson's interval of 95 %. Durations are of own answered calls, approval waits included.
with outcomes as (
    select
        c.name,
        count(*) filter (o.status = 'error') as errors,
        count(*) filter (o.status = 'interrupted') as interrupted
    from tool_outcomes as o
    left join calls as c
        on c.source_key = o.source_key and c.call_id = o.call_id and c.call_number = o.call_number
        and not c.is_recovered
    left join call_results as r on r.source_key = o.source_key and r.line = o.line and r.seq = o.seq
    where coalesce(
        case when c.is_inherited = false then c."at" else r."at" end >= $from_at::timestamptz
        and case when c.is_inherited = false then c."at" else r."at" end < $to_at::timestamptz,
        $from_at is null
    )
    group by c.name
),

own as (
    select
        name,
        count(*) as calls,
        count(*) filter (status = 'unanswered') as unanswered,
        quantile_cont(duration_ms, [0.5, 0.9, 0.99]) as duration_ms,
        max(duration_ms) as longest_ms,
        arg_max(session_id, duration_ms) as longest_session_id,
        arg_max(seq, duration_ms) as longest_seq,
        try_cast(sum(duration_ms) as bigint) as total_ms
    from tool_calls
    where not is_inherited and not is_recovered
        and coalesce(called_at >= $from_at::timestamptz and called_at < $to_at::timestamptz, $from_at is null)
    group by name
),

together as (
    select
        coalesce(a.name, o.name) as name,
        coalesce(a.calls, 0) as calls,
        coalesce(o.errors, 0) as errors,
        coalesce(o.interrupted, 0) as interrupted,
        coalesce(a.unanswered, 0) as unanswered,
        a.duration_ms[1]::bigint as duration_ms_p50,
        a.duration_ms[2]::bigint as duration_ms_p90,
        a.duration_ms[3]::bigint as duration_ms_p99,
        a.longest_ms, a.longest_session_id, a.longest_seq, a.total_ms
    from own as a
    full join outcomes as o on o.name is not distinct from a.name
)

select
    t.*, t.errors / nullif(t.calls, 0) as error_rate, w.low as error_rate_low, w.high as error_rate_high
from together as t, wilson_interval(t.errors, t.calls) as w
order by t.calls desc, t.name
