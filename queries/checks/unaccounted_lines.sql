-- doc: Files whose lines do not add up: every line that is not blank is the header, an event or a row of rejects.
-- grain: one row per file and count that disagrees
-- needs: source_status, stored.events, stored.rejects
-- severity: fail
-- Events are counted too: packed rows as the events that they stand for. An unfinished last line is no line yet.
with readable as (
    select * from source_status where kind <> 'cassette' and session_id is not null and lines is not null
),

written as (
    select e.source_key, count(*) as event_lines, sum(e.members)::bigint as events
    from stored.events as e
    inner join readable as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
    where not e.is_recovered and not e.is_tail
    group by e.source_key
),

refused as (
    select r.source_key, count(*) as rejected_lines
    from stored.rejects as r
    inner join readable as s on r.source_key = s.source_key and r.batch between s.first_batch and s.last_batch
    where not r.is_recovered and not r.is_tail and r.line is not null
    group by r.source_key
),

counted as (
    select
        s.source_id, s.path, s.lines, s.rejected_lines, s.events,
        coalesce(w.event_lines, 0) as event_rows, coalesce(w.events, 0) as event_count,
        coalesce(r.rejected_lines, 0) as reject_rows
    from readable as s
    left join written as w using (source_key)
    left join refused as r using (source_key)
),

told as (
    select
        source_id, path, lines as expected, 1 + event_rows + reject_rows as found,
        'lines that are not blank, but header, events and rejects are ' as what
    from counted
    union all
    select source_id, path, events as expected, event_count as found, 'events, but rows of events are ' as what
    from counted
    union all
    select source_id, path, rejected_lines as expected, reject_rows as found,
        'rejected lines, but rows of rejects are ' as what
    from counted
)

select
    'file' as subject_kind, source_id as subject_id, path, null::varchar as position,
    'the file has ' || expected || ' ' || what || found || ': scan with --full, which reads it again' as message
from told
where expected <> found
