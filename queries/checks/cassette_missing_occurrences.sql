-- doc: Groups of calls with the same parent, context and request whose occurrence numbers are not 1 to m.
-- grain: one row per group, with its smallest missing number
-- needs: interactions, cassettes
-- severity: fail
-- Only a group with a number above 1 can lack one. Where a line is faulty its number may be among the missing
-- ones: cassette_findings then leaves this out.
with repeating as (
    select distinct source_id, parent_key, parent_context_fingerprint, request_fingerprint
    from interactions
    where occurrence > 1
),

numbered as (
    select
        i.source_id, i.parent_key, i.parent_context_fingerprint, i.request_fingerprint, i.line, i.occurrence,
        dense_rank() over (
            partition by i.source_id, i.parent_key, i.parent_context_fingerprint, i.request_fingerprint
            order by i.occurrence
        ) as place
    from interactions as i
    semi join repeating as r using (source_id, parent_key, parent_context_fingerprint, request_fingerprint)
    where i.occurrence is not null
),

gaps as (
    select source_id, min(line) as first_line, min(place) filter (occurrence <> place) as missing
    from numbered
    group by source_id, parent_key, parent_context_fingerprint, request_fingerprint
    having missing is not null
),

ends as (
    select source_id, max(line) + 1 as line
    from interactions
    where source_id in (select source_id from gaps)
    group by source_id
)

select
    'cassette' as subject_kind, g.source_id as subject_id, c.path, null::varchar as position,
    'cassette parent-context/request group is missing occurrence ' || g.missing as message, e.line,
    20000000 + row_number() over (partition by g.source_id order by g.first_line) as rank,
    'missing-occurrence' as code, null::bigint as physical_line
from gaps as g
inner join ends as e using (source_id)
inner join cassettes as c using (source_id)
