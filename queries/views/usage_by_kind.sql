-- doc: Tokens and cost by kind of call: answers, attempts that were thrown away, compactions.
-- grain: one row per kind
-- needs: priced_usage
select kind, totals.*
from (select u.kind, usage_totals(u) as totals from priced_usage as u group by u.kind)
order by kind
