-- doc: Groups of calls with the same parent, context and request whose occurrence numbers are not 1 to m.
-- grain: one row per group of a cassette that is sound line by line
-- needs: interactions, cassettes
-- severity: fail
with numbered as (
    select
        source_id, parent_key, parent_context_fingerprint, request_fingerprint, line, occurrence,
        row_number() over (
            partition by source_id, parent_key, parent_context_fingerprint, request_fingerprint order by occurrence
        ) as place
    from interactions
),

gaps as (
    select source_id, min(line) as first_line, max(line) as last_line, min(place) filter (occurrence <> place) as missing
    from numbered
    group by source_id, parent_key, parent_context_fingerprint, request_fingerprint
),

ends as (
    select *, max(last_line) over (partition by source_id) + 1 as line from gaps
)

select
    'cassette' as subject_kind, e.source_id as subject_id, c.path, null::varchar as position,
    'cassette parent-context/request group is missing occurrence ' || e.missing as message, e.line,
    20000000 + row_number() over (partition by e.source_id order by e.first_line) as rank,
    'missing-occurrence' as code, null::bigint as physical_line
from ends as e
inner join cassettes as c using (source_id)
where e.missing is not null
