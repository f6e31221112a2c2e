-- doc: What a completed turn costs when what was thrown away is paid for too: attempts, turns that came to nothing, calls between turns.
-- grain: one row
-- needs: turn_cost
-- own_cost_per_turn is the mean of the completed turns alone, cost_per_turn divides all that was spent by them; both
-- count completed turns of which some cost is known. other_turns failed, were cut off, or go on.
select
    count(*) filter (outcome = 'completed') as completed_turns,
    count(*) filter (turn is not null and outcome is distinct from 'completed') as other_turns,
    coalesce(sum(retries), 0)::bigint as retries,
    coalesce(sum(attempts), 0)::bigint as attempts,
    sum(total_tokens)::bigint as total_tokens,
    sum(total_tokens) filter (outcome = 'completed')::bigint as completed_tokens,
    sum(attempt_tokens)::bigint as attempt_tokens,
    sum(compaction_tokens)::bigint as compaction_tokens,
    sum(cost) as cost,
    sum(cost) filter (outcome = 'completed') as completed_cost,
    sum(attempt_cost) as attempt_cost,
    sum(compaction_cost) as compaction_cost,
    sum(cost) filter (outcome = 'completed')
        / nullif(count(*) filter (outcome = 'completed' and cost is not null), 0) as own_cost_per_turn,
    sum(cost) / nullif(count(*) filter (outcome = 'completed' and cost is not null), 0) as cost_per_turn,
    max(currency) as currency,
    coalesce(sum(unpriced_calls), 0)::bigint as unpriced_calls
from turn_cost
