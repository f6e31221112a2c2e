-- doc: Tokens and cost by day or month, in the time zone of the variable time_zone.
-- grain: one row per day (or month, by its first day) with usage whose time is known
-- needs: priced_usage
-- params: from_at, to_at, unit, time_zone
select strftime(day, '%Y-%m-%d') as day, totals.*
from (
    select
        date_trunc(
            $unit, timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), u."at")
        )::date as day,
        usage_totals(u) as totals
    from priced_usage as u
    where u."at" is not null
        and coalesce(u."at" >= $from_at::timestamptz and u."at" < $to_at::timestamptz, $from_at is null)
    group by day
)
order by day
