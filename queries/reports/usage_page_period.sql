-- doc: The period that a page of usage is of, as instants; the zone of its days; when the lake was scanned.
-- grain: one row
-- needs: scans
-- params: since, until, time_zone
-- A day begins at midnight of the zone. Both bounds are null where none is asked for; one alone is open to the other
-- side. Instants are text, which needs no library of time zones to be read.
with zone as (select coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')) as time_zone),

bounds as (
    select
        time_zone,
        coalesce($since, $until) is not null as is_bounded,
        coalesce(timezone(time_zone, $since::timestamp), '-infinity'::timestamptz) as from_at,
        coalesce(timezone(time_zone, $until::timestamp), 'infinity'::timestamptz) as to_at
    from zone
),

newest as (
    select
        arg_max(scan_id, batch) as scan_id,
        max(started_at) filter (action = 'scan') as scanned_at,
        arg_max(roots, batch) filter (action = 'scan') as roots,
        arg_max(has_content, batch) as has_content
    from scans
)

select
    b.time_zone,
    case when b.is_bounded then b.from_at::varchar end as from_at,
    case when b.is_bounded then b.to_at::varchar end as to_at,
    n.scan_id,
    strftime(timezone(b.time_zone, n.scanned_at), '%Y-%m-%d %H:%M') as scanned_at,
    strftime(timezone(b.time_zone, get_current_timestamp()), '%Y-%m-%d %H:%M') as made_at,
    n.roots,
    n.has_content
from bounds as b, newest as n
