-- doc: What each billed call cost, by bucket, and the price row that says so; without a price null, and why.
-- grain: one row per billed model call
-- needs: priced_usage
-- Costs are in the currency of the variable currency, by default USD. The price is that of the call's own time;
-- cost is the sum of its four parts.
select
    source_id, line, seq, session_id, "at", turn, step, kind, provider, model, served_model,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
    billed_tokens as total_tokens,
    input_amount::double as input_cost,
    output_amount::double as output_cost,
    cache_read_amount::double as cache_read_cost,
    cache_write_amount::double as cache_write_cost,
    amount::double as cost,
    currency,
    case when amount is not null then price_id end as price_id,
    unpriced_reason
from priced_usage
