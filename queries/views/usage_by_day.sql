-- doc: Tokens and cost by day in the time zone of the variable time_zone, by default the one DuckDB is set to.
-- grain: one row per calendar day with usage; day is null where calls have no time
-- needs: priced_usage
-- params: time_zone
select day, totals.*
from (
    select
        timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), u."at")::date as day,
        usage_totals(u) as totals
    from priced_usage as u
    group by day
)
order by day
