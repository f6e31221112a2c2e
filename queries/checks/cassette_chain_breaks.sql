-- doc: Records of cassettes that do not name the digest which the record before them states.
-- grain: one row per record
-- needs: interactions, cassettes
-- severity: fail
-- A line that is no record states nothing, and nothing can disagree with it.
with broken as (
    select i.source_id, i.line, i.physical_line
    from interactions as i
    inner join interactions as before on before.source_id = i.source_id and before.line = i.line - 1
    where i.previous_sha256 <> before.stated_sha256
    union all
    select i.source_id, i.line, i.physical_line
    from interactions as i
    inner join cassettes as header on header.source_id = i.source_id
    where i.line = 2 and i.previous_sha256 <> header.stated_sha256
)

select
    'cassette' as subject_kind, b.source_id as subject_id, c.path, 'line ' || b.line as position,
    'line ' || b.line || ' hash chain points to the wrong previous record' as message, b.line,
    12000000 as rank, 'chain-break' as code, b.physical_line
from broken as b
inner join cassettes as c using (source_id)
