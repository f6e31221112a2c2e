-- doc: Tokens and cost by the model that was asked for.
-- grain: one row per provider and model
-- needs: priced_usage
select provider, model, totals.*
from (select u.provider, u.model, usage_totals(u) as totals from priced_usage as u group by u.provider, u.model)
order by totals.total_tokens desc nulls last, provider, model
