-- doc: Cassettes whose sequence numbers are not 1 to n.
-- grain: one row per cassette, with its smallest missing number
-- needs: interactions, cassettes
-- severity: fail
-- Where a line is faulty its number may be among the missing ones: cassette_findings then leaves this out.
with incomplete as (
    select source_id, max(line) + 1 as line
    from interactions
    group by source_id
    having max(sequence) > count(distinct sequence)
),

numbered as (
    select source_id, sequence, dense_rank() over (partition by source_id order by sequence) as place
    from interactions
    where source_id in (select source_id from incomplete) and sequence is not null
),

gaps as (select source_id, min(place) as missing from numbered where sequence <> place group by source_id)

select
    'cassette' as subject_kind, g.source_id as subject_id, c.path, null::varchar as position,
    'cassette is missing sequence ' || g.missing as message, i.line, 19000000 as rank,
    'missing-sequence' as code, null::bigint as physical_line
from gaps as g
inner join incomplete as i using (source_id)
inner join cassettes as c using (source_id)
