-- doc: Why the cache missed: calls, tokens and money by cause, the dearest first.
-- grain: one row per cause found
-- needs: cache_misses
-- Of a sub-agent's first call it is not known how much it could have read: it is in uncached_tokens alone.
select
    cause,
    count(*) as calls,
    sum(missed_tokens)::bigint as missed_tokens,
    sum(missed_tokens) / sum(sum(missed_tokens)) over () as share,
    sum(uncached_tokens)::bigint as uncached_tokens,
    sum(missed_cost) as missed_cost,
    max(currency) as currency,
    count(*) filter (missed_tokens is not null and missed_cost is null) as unpriced_calls
from cache_misses
group by cause
order by missed_tokens desc nulls last, cause
