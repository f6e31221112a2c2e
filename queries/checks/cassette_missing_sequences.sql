-- doc: Cassettes, sound line by line, whose sequence numbers are not 1 to n.
-- grain: one row per cassette, with its smallest missing number
-- needs: interactions, cassettes
-- severity: fail
with numbered as (
    select source_id, line, sequence, row_number() over (partition by source_id order by sequence) as place
    from interactions
),

gaps as (
    select source_id, max(line) + 1 as line, min(place) filter (sequence <> place) as missing
    from numbered
    group by source_id
)

select
    'cassette' as subject_kind, g.source_id as subject_id, c.path, null::varchar as position,
    'cassette is missing sequence ' || g.missing as message, g.line, 19000000 as rank,
    'missing-sequence' as code, null::bigint as physical_line
from gaps as g
inner join cassettes as c using (source_id)
where g.missing is not null
