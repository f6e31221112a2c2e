-- doc: Calls with the occurrence number of an earlier line with the same parent, parent context and request.
-- grain: one row per call
-- needs: interactions, cassettes
-- severity: fail
with numbered as (
    select
        *,
        row_number() over (
            partition by source_id, parent_key, parent_context_fingerprint, request_fingerprint, occurrence order by line
        ) as place
    from interactions
    where
        parent_key is not null and parent_context_fingerprint is not null and request_fingerprint is not null
        and occurrence is not null
)

select
    'cassette' as subject_kind, n.source_id as subject_id, c.path, 'line ' || n.line as position,
    'line ' || n.line || ' duplicates occurrence ' || n.occurrence || ' for one parent-context/request group'
        as message,
    n.line, 18000000 as rank, 'duplicate-occurrence' as code, n.physical_line
from numbered as n
inner join cassettes as c using (source_id)
where n.place > 1
