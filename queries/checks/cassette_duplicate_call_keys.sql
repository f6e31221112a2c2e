-- doc: Calls with the call key of an earlier line of their cassette.
-- grain: one row per call
-- needs: interactions, cassettes
-- severity: fail
with numbered as (
    select *, row_number() over (partition by source_id, call_key order by line) as place
    from interactions
    where call_key is not null
)

select
    'cassette' as subject_kind, n.source_id as subject_id, c.path, 'line ' || n.line as position,
    'line ' || n.line || ' duplicates call key "' || n.call_key || '"' as message, n.line, 17000000 as rank,
    'duplicate-call-key' as code, n.physical_line
from numbered as n
inner join cassettes as c using (source_id)
where n.place > 1
