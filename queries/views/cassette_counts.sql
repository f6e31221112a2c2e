-- doc: What each cassette holds.
-- grain: one row per cassette file that could be opened
-- needs: cassettes, interactions, ambiguous_groups
-- completed and aborted are results with just that stop reason, failed is everything else; duration_ms is the
-- longest call's. Of a cassette that is not sound the counts are of what could be read.
with counted as (
    select
        source_id,
        count(*) as interactions,
        count(*) filter (stop_reason = 'completed') as completed,
        count(*) filter (stop_reason is distinct from 'completed' and stop_reason is distinct from 'aborted') as failed,
        count(*) filter (stop_reason = 'aborted') as aborted,
        count(*) filter (outcome_kind = 'result' and redactions > 0) as redacted_results,
        max(duration_ms) as duration_ms
    from interactions
    group by source_id
),

ambiguous as (select source_id, count(*) as ambiguous_groups from ambiguous_groups group by source_id)

select
    c.source_id, c.path, c.cassette_id, c.created_at, c.provider_cassette, c.provider_upstream, c.request_storage,
    coalesce(n.interactions, 0) as interactions,
    coalesce(n.completed, 0) as completed,
    coalesce(n.failed, 0) as failed,
    coalesce(n.aborted, 0) as aborted,
    coalesce(a.ambiguous_groups, 0) as ambiguous_groups,
    coalesce(n.redacted_results, 0) as redacted_results,
    coalesce(n.duration_ms, 0) as duration_ms
from cassettes as c
left join counted as n using (source_id)
left join ambiguous as a using (source_id)
order by c.path
