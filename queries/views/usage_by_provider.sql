-- doc: Tokens and cost by the provider that was asked.
-- grain: one row per provider; null where the record names none
-- needs: priced_usage
select provider, totals.*
from (select u.provider, usage_totals(u) as totals from priced_usage as u group by u.provider)
order by totals.total_tokens desc nulls last, provider
