-- doc: What each turn used and cost, with its retries, attempts thrown away and compactions, and how it ended.
-- grain: one row per turn with usage, a beginning or an end; turn is null for calls between turns
-- needs: priced_usage, turn_times, source_status
-- outcome is the producer's word, null where the turn has no end. Costs leave out calls without a price: unpriced_calls.
with spent as (
    select
        session_id, source_id, turn,
        count(*) as calls,
        sum(billed_tokens)::bigint as total_tokens,
        sum(billed_tokens) filter (kind = 'attempt')::bigint as attempt_tokens,
        sum(billed_tokens) filter (kind = 'compaction')::bigint as compaction_tokens,
        sum(amount)::double as cost,
        sum(amount) filter (kind = 'attempt')::double as attempt_cost,
        sum(amount) filter (kind = 'compaction')::double as compaction_cost,
        max(currency) as currency,
        count(*) filter (amount is null) as unpriced_calls
    from priced_usage
    group by session_id, source_id, turn
),

stated as (
    select s.session_id, s.source_id, t.turn, t.ending.outcome as outcome, t.retries, t.attempts
    from turn_times as t
    inner join source_status as s using (source_key)
    where t.is_turn
)

select
    coalesce(t.session_id, e.session_id) as session_id,
    coalesce(t.source_id, e.source_id) as source_id,
    coalesce(t.turn, e.turn) as turn,
    e.outcome,
    coalesce(e.retries, 0) as retries,
    coalesce(e.attempts, 0) as attempts,
    coalesce(t.calls, 0) as calls,
    t.total_tokens, t.attempt_tokens, t.compaction_tokens, t.cost, t.attempt_cost, t.compaction_cost, t.currency,
    coalesce(t.unpriced_calls, 0) as unpriced_calls
from spent as t
full join stated as e
    on e.source_id = t.source_id and e.turn is not distinct from t.turn
