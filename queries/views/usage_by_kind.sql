-- doc: Tokens by kind of call: answers, attempts that were thrown away, compactions.
-- grain: one row per kind
-- needs: billed_usage
select
    kind,
    count(*) as calls,
    try_cast(sum(input_tokens) as bigint) as input_tokens,
    try_cast(sum(output_tokens) as bigint) as output_tokens,
    try_cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
    try_cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
    try_cast(sum(reasoning_tokens) as bigint) as reasoning_tokens,
    try_cast(sum(billed_tokens) as bigint) as total_tokens,
    sum(cache_read_tokens)
        / nullif(sum(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)), 0)
        as cache_read_share
from billed_usage
group by kind
order by kind
