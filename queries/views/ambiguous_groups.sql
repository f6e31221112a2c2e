-- doc: Calls of one cassette that cannot be told apart although they ended differently.
-- grain: one row per group of calls with the same parent, parent context and request
-- needs: interactions, cassettes
-- differs: the members in which the outcomes differ; empty where only what was answered or said differs.
-- The hash finds the rows that may have company; what is grouped in the end are the members.
with candidates as (
    select hash(source_id, parent_key, parent_context_fingerprint, request_fingerprint) as group_hash
    from interactions
    group by group_hash
    having count(*) > 1
)

select
    i.source_id, c.path, i.parent_key, i.parent_context_fingerprint, i.request_fingerprint,
    count(*) as calls,
    count(distinct i.outcome_fingerprint) as outcomes,
    list_filter([
        case when count(distinct i.outcome_kind) > 1 then 'outcome_kind' end,
        case when count(distinct coalesce(i.stop_reason, '')) > 1 then 'stop_reason' end,
        case when count(distinct coalesce(i.error_name, '')) > 1 then 'error_name' end,
        case when count(distinct coalesce(i.error_code, '')) > 1 then 'error_code' end,
        case when count(distinct coalesce(i.redactions, -1)) > 1 then 'redactions' end
    ], lambda name: name is not null) as differs,
    min(i.line) as first_line,
    min(i.physical_line) as first_physical_line,
    list({
        line: i.line, sequence: i.sequence, call_key: i.call_key, occurrence: i.occurrence, label: i.label,
        outcome_kind: i.outcome_kind, stop_reason: i.stop_reason, error_name: i.error_name,
        error_code: i.error_code, redactions: i.redactions, outcome_fingerprint: i.outcome_fingerprint, duration_ms: i.duration_ms
    } order by i.line) as members
from interactions as i
inner join cassettes as c using (source_id)
where
    i.parent_key is not null and i.parent_context_fingerprint is not null and i.request_fingerprint is not null
    and hash(i.source_id, i.parent_key, i.parent_context_fingerprint, i.request_fingerprint) in (from candidates)
group by i.source_id, c.path, i.parent_key, i.parent_context_fingerprint, i.request_fingerprint
having count(distinct i.outcome_fingerprint) > 1
order by c.path, first_line
