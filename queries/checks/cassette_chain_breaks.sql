-- doc: Records of cassettes that do not name the digest which the record before them states.
-- grain: one row per record
-- needs: interactions, cassettes
-- severity: fail
-- A line that is no record states nothing, and nothing can disagree with it.
with records as (
    select source_id, line, physical_line, previous_sha256, stated_sha256 from interactions
    union all
    select source_id, 1 as line, physical_line, null as previous_sha256, stated_sha256 from cassettes
),

linked as (
    select
        *,
        lag(line) over following = line - 1 as follows,
        lag(stated_sha256) over following as stated_before
    from records
    window following as (partition by source_id order by line)
)

select
    'cassette' as subject_kind, l.source_id as subject_id, c.path, 'line ' || l.line as position,
    'line ' || l.line || ' hash chain points to the wrong previous record' as message, l.line,
    12000000 as rank, 'chain-break' as code, l.physical_line
from linked as l
inner join cassettes as c using (source_id)
where l.follows and l.previous_sha256 <> l.stated_before
