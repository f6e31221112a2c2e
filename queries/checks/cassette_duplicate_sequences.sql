-- doc: Calls with the sequence number of an earlier line of their cassette.
-- grain: one row per call
-- needs: interactions, cassettes
-- severity: fail
with numbered as (
    select *, row_number() over (partition by source_id, sequence order by line) as place
    from interactions
    where sequence is not null
)

select
    'cassette' as subject_kind, n.source_id as subject_id, c.path, 'line ' || n.line as position,
    'line ' || n.line || ' duplicates sequence ' || n.sequence as message, n.line, 16000000 as rank,
    'duplicate-sequence' as code, n.physical_line
from numbered as n
inner join cassettes as c using (source_id)
where n.place > 1
