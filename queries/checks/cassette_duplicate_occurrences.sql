-- doc: Calls with the occurrence number of an earlier line with the same parent, parent context and request.
-- grain: one row per call
-- needs: interactions, cassettes
-- severity: fail
-- The hash finds the few rows that may be repeated; what is compared in the end are the members.
with candidates as (
    select hash(source_id, parent_key, parent_context_fingerprint, request_fingerprint, occurrence) as call_hash
    from interactions
    group by call_hash
    having count(*) > 1
),

numbered as (
    select
        source_id, line, physical_line, occurrence,
        row_number() over (
            partition by source_id, parent_key, parent_context_fingerprint, request_fingerprint, occurrence order by line
        ) as place
    from interactions
    where
        parent_key is not null and parent_context_fingerprint is not null and request_fingerprint is not null
        and occurrence is not null
        and hash(source_id, parent_key, parent_context_fingerprint, request_fingerprint, occurrence)
        in (from candidates)
)

select
    'cassette' as subject_kind, n.source_id as subject_id, c.path, 'line ' || n.line as position,
    'line ' || n.line || ' duplicates occurrence ' || n.occurrence || ' for one parent-context/request group'
        as message,
    n.line, 18000000 as rank, 'duplicate-occurrence' as code, n.physical_line
from numbered as n
inner join cassettes as c using (source_id)
where n.place > 1
