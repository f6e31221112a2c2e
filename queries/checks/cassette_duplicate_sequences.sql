-- doc: Calls with the sequence number of an earlier line of their cassette.
-- grain: one row per call
-- needs: interactions, cassettes
-- severity: fail
with repeated as (
    select source_id, sequence, min(line) as first_line
    from interactions
    where sequence is not null
    group by source_id, sequence
    having count(*) > 1
)

select
    'cassette' as subject_kind, i.source_id as subject_id, c.path, 'line ' || i.line as position,
    'line ' || i.line || ' duplicates sequence ' || i.sequence as message, i.line, 16000000 as rank,
    'duplicate-sequence' as code, i.physical_line
from repeated as r
inner join interactions as i on i.source_id = r.source_id and i.sequence = r.sequence and i.line > r.first_line
inner join cassettes as c on c.source_id = i.source_id
