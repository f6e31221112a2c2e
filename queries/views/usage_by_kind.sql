-- doc: Tokens by kind of call: answers, attempts that were thrown away, compactions.
-- grain: one row per kind
-- needs: billed_usage
select
    kind,
    count(*) as calls,
    sum(input_tokens)::bigint as input_tokens,
    sum(output_tokens)::bigint as output_tokens,
    sum(cache_read_tokens)::bigint as cache_read_tokens,
    sum(cache_write_tokens)::bigint as cache_write_tokens,
    sum(reasoning_tokens)::bigint as reasoning_tokens,
    sum(billed_tokens)::bigint as total_tokens,
    sum(cache_read_tokens)
        / nullif(sum(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)), 0)
        as cache_read_share
from billed_usage
group by kind
order by kind
