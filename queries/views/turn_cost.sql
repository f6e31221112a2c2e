-- doc: What each turn used and cost, with its retries, attempts thrown away and compactions, and how it ended.
-- grain: one row per turn with usage or an end; turn is null for calls between turns
-- needs: priced_usage, event_facts
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
    select
        session_id, source_id, turn,
        arg_max(outcome, line) filter (type = 'turn/end') as outcome,
        count(*) filter (type = 'llm/retry') as retries,
        count(*) filter (type in ('assistant/attempt', 'assistant/chunk')) as attempts
    from event_facts
    where type in ('turn/end', 'llm/retry', 'assistant/attempt', 'assistant/chunk')
        and not is_inherited and not is_recovered
    group by session_id, source_id, turn
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
