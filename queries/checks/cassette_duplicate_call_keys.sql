-- doc: Calls with the call key of an earlier line of their cassette.
-- grain: one row per call
-- needs: interactions, cassettes
-- severity: fail
-- The hash finds the few rows that may be repeated; what is compared in the end are the keys.
with candidates as (
    select hash(source_id, call_key) as key_hash
    from interactions
    group by key_hash
    having count(*) > 1
),

repeated as (
    select source_id, call_key, min(line) as first_line
    from interactions
    where call_key is not null and hash(source_id, call_key) in (from candidates)
    group by source_id, call_key
    having count(*) > 1
)

select
    'cassette' as subject_kind, i.source_id as subject_id, c.path, 'line ' || i.line as position,
    'line ' || i.line || ' duplicates call key "' || i.call_key || '"' as message, i.line, 17000000 as rank,
    'duplicate-call-key' as code, i.physical_line
from repeated as r
inner join interactions as i on i.source_id = r.source_id and i.call_key = r.call_key and i.line > r.first_line
inner join cassettes as c on c.source_id = i.source_id
