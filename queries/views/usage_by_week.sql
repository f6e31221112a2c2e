-- doc: Tokens and cost by week from Monday, in the time zone of the variable time_zone as in usage_by_day.
-- grain: one row per week with usage, named by its Monday; null where calls have no time
-- needs: priced_usage
-- params: time_zone
select week, totals.*
from (
    select
        date_trunc(
            'week', timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), u."at")
        )::date as week,
        usage_totals(u) as totals
    from priced_usage as u
    group by week
)
order by week
