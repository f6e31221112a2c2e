-- doc: How the cacheRead share is spread over sessions and over calls, beside the share of all of them together.
-- grain: one row for sessions, one for calls
-- needs: cache_share, billed_usage
-- cache_read_share is a ratio of sums; the quantiles are of the shares of single sessions or calls, each counting
-- the same however large its prompts. Those of which no share is known are counted in unknown and left out.
with shares as (
    select 'session' as per, prompt_tokens, cache_read_tokens, cache_read_share as share
    from cache_share
    union all
    select 'call' as per, prompt_tokens, cache_read_tokens, cache_read_tokens / nullif(prompt_tokens, 0) as share
    from (
        select
            cache_read_tokens,
            input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
        from billed_usage
    )
),

spread as (
    select
        per,
        count(share) as known,
        count(*) - count(share) as unknown,
        sum(cache_read_tokens) / nullif(sum(prompt_tokens), 0) as cache_read_share,
        quantile_cont(share, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) as cuts
    from shares
    group by per
)

select
    per, known, unknown, cache_read_share, cuts[1] as min_share, cuts[2] as p10_share, cuts[3] as p25_share,
    cuts[4] as p50_share, cuts[5] as p75_share, cuts[6] as p90_share, cuts[7] as max_share
from spread
order by per desc
