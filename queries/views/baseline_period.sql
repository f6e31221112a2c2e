-- doc: The days that a baseline is of: which of them its period holds whole, and on which the scan ran.
-- grain: one row
-- needs: scans
-- params: since, until, time_zone
-- Days from first_day (null: from the first) to before end_day (null: to the last) lie in the period whole, in the
-- variable time_zone. scan_day was not over when the archives were read.
with asked as (
    select
        coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')) as time_zone,
        getvariable('since')::timestamptz as since,
        getvariable('until')::timestamptz as until
),

dated as (
    select
        newest.scan_id, asked.time_zone, asked.since,
        timezone(asked.time_zone, asked.since)::date as since_day,
        timezone(asked.time_zone, asked.until)::date as end_day,
        timezone(asked.time_zone, newest.started_at)::date as scan_day
    from asked, (select arg_max(scan_id, started_at) as scan_id, max(started_at) as started_at from scans) as newest
)

select
    scan_id, time_zone,
    case when timezone(time_zone, since_day::timestamp) >= since then since_day else since_day + 1 end as first_day,
    end_day, scan_day
from dated
