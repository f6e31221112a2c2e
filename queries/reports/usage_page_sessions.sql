-- doc: Sessions with something in a period, newest first, and what they did and used within it.
-- grain: one row per session
-- needs: sessions, own_facts, calls, call_outcomes, priced_usage
-- params: from_at, to_at, time_zone, limit
-- Without a period these are all sessions. Columns all_* are the same on every row: totals that count what the limit
-- leaves out too.
with turns as (
    select source_id, count(*) as turns
    from own_facts
    where type = 'turn/start'
        and coalesce("at" >= $from_at::timestamptz and "at" < $to_at::timestamptz, $from_at is null)
    group by source_id
),

called as (
    select source_id, count(*) as tool_calls
    from calls
    where not is_inherited and not is_recovered
        and coalesce("at" >= $from_at::timestamptz and "at" < $to_at::timestamptz, $from_at is null)
    group by source_id
),

failed as (
    select source_id, count(*) as tool_errors
    from (
        select source_id, case when is_called and not is_inherited then called_at else own_at end as "at"
        from call_outcomes
        where own_status = 'error'
    )
    where coalesce("at" >= $from_at::timestamptz and "at" < $to_at::timestamptz, $from_at is null)
    group by source_id
),

billed as (
    select * from priced_usage
    where coalesce("at" >= $from_at::timestamptz and "at" < $to_at::timestamptz, $from_at is null)
),

mostly as (
    select source_id, arg_max(model, tokens) as model, count(distinct model) as models
    from (select source_id, model, sum(billed_tokens) as tokens from billed group by source_id, model)
    group by source_id
),

spent as (select u.source_id, usage_totals(u) as totals from billed as u group by u.source_id),

found as (
    select
        s.session_id, s.source_id, s.origin, s.title, s.workspace,
        coalesce(s.created_at, s.first_event_at) as started_at,
        m.model,
        coalesce(m.models, 0) as models,
        coalesce(t.turns, 0) as turns,
        coalesce(c.tool_calls, 0) as tool_calls,
        coalesce(f.tool_errors, 0) as tool_errors,
        u.totals
    from sessions as s
    left join turns as t using (source_id)
    left join called as c using (source_id)
    left join failed as f using (source_id)
    left join mostly as m using (source_id)
    left join spent as u using (source_id)
    where $from_at is null or t.turns > 0 or c.tool_calls > 0 or f.tool_errors > 0 or u.totals is not null
        or (
            coalesce(s.created_at, s.first_event_at) >= $from_at::timestamptz
            and coalesce(s.created_at, s.first_event_at) < $to_at::timestamptz
        )
)

select
    session_id, origin, title, workspace,
    strftime(
        timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), started_at), '%Y-%m-%d %H:%M'
    ) as started_at,
    model, models, turns, tool_calls, tool_errors,
    totals.total_tokens, totals.cache_read_share, totals.cost, totals.currency, totals.calls, totals.unpriced_calls,
    count(*) over () as all_sessions,
    count(*) filter (origin = 'subagent') over () as all_subagents,
    (sum(turns) over ())::bigint as all_turns
from found
order by found.started_at desc nulls last, session_id, source_id
limit $limit
