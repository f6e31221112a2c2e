-- doc: The measures of a baseline by a grain, the variable grain: day, week, model, workspace, tool or session.
-- grain: one row per group; key is null where the day, model, workspace or tool of what happened is not known
-- needs: baseline_activity, wilson_interval
-- params: grain, time_zone
-- Days and weeks (by their Monday) are those of the variable time_zone. Sums over groups are the sums of
-- baseline_overall; sessions are counted in every group in which something happened. Of what is measured here tools
-- have their calls alone: the rest is null.
with grouped as (
    select
        *,
        case getvariable('grain')::varchar
            when 'day' then "date"::varchar
            when 'week' then date_trunc('week', "date")::date::varchar
            when 'model' then model
            when 'workspace' then workspace
            when 'tool' then tool
            when 'session' then session_id
        end as key,
        -- Fixtures may share an id.
        case when getvariable('grain')::varchar = 'session' then source_id end as part
    from (
        select
            *,
            timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), "at")::date as "date"
        from baseline_activity
    )
    where coalesce(getvariable('grain')::varchar, '') <> 'tool' or kind in ('tool call', 'tool result')
),

measured as (
    select key, totals.* from (select a.key, activity_totals(a) as totals from grouped as a group by a.key, a.part)
),

applicable as (
    -- What tools have no share in is not known of them, rather than zero.
    select * replace (
        case when not is_of_tool then turns end as turns,
        case when not is_of_tool then turns_failed end as turns_failed,
        case when not is_of_tool then human_messages end as human_messages,
        case when not is_of_tool then retries end as retries,
        case when not is_of_tool then attempts end as attempts,
        case when not is_of_tool then billed_calls end as billed_calls,
        case when not is_of_tool then unpriced_calls end as unpriced_calls,
        case when not is_of_tool then unpriced_tokens end as unpriced_tokens
    )
    from (select *, coalesce(getvariable('grain')::varchar, '') = 'tool' as is_of_tool from measured)
)

select
    m.* exclude (is_of_tool), turns.low as turn_error_rate_low, turns.high as turn_error_rate_high,
    tools.low as tool_error_rate_low, tools.high as tool_error_rate_high
from applicable as m,
    wilson_interval(m.turns_failed, m.turns) as turns,
    wilson_interval(m.tool_errors, m.tool_calls) as tools
order by
    case when getvariable('grain')::varchar in ('day', 'week') then m.key end nulls last,
    m.total_tokens desc nulls last, m.tool_calls desc, m.key
