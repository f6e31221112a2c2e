-- doc: Tokens and cost by the model that was asked for, and why calls have no price.
-- grain: one row per provider and model
-- needs: priced_usage
-- params: from_at, to_at
select provider, model, totals.*, reasons
from (
    select
        u.provider,
        u.model,
        usage_totals(u) as totals,
        string_agg(distinct u.unpriced_reason, ', ' order by u.unpriced_reason) as reasons
    from priced_usage as u
    where coalesce(u."at" >= $from_at::timestamptz and u."at" < $to_at::timestamptz, $from_at is null)
    group by u.provider, u.model
)
order by totals.total_tokens desc nulls last, provider, model
