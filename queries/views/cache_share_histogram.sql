-- doc: How many calls, and prompts of how many tokens, had a cacheRead share of 0 to 10 %, of 10 to 20 %, and so on.
-- grain: one row per tenth that has calls; from_share is null for calls of which no share is known
-- needs: billed_usage
-- A share belongs to the tenth that it begins; a share of 1 belongs to the last.
with prompts as (
    select
        source_id, cache_read_tokens,
        input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
    from billed_usage
),

placed as (
    select
        *,
        case
            when cache_read_tokens = prompt_tokens and prompt_tokens > 0 then 9
            else (cache_read_tokens::hugeint * 10 // nullif(prompt_tokens, 0))::bigint
        end as tenth
    from prompts
)

select
    tenth / 10 as from_share,
    (tenth + 1) / 10 as to_share,
    count(*) as calls,
    count(distinct source_id) as sessions,
    try_cast(sum(prompt_tokens) as bigint) as prompt_tokens,
    try_cast(sum(cache_read_tokens) as bigint) as cache_read_tokens
from placed
group by tenth
order by tenth nulls last
