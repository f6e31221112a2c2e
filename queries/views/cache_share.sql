-- doc: How much of each session's prompts was read from the cache, and what the rest cost in tokens.
-- grain: one row per session with usage
-- needs: billed_usage, sessions
-- Prompt is input + cache read + cache write. The share of several sessions is sum(cache_read_tokens) /
-- sum(prompt_tokens), never the mean of cache_read_share.
with prompts as (
    select
        *,
        input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
    from billed_usage
)

select
    s.session_id,
    s.source_id,
    s.title,
    count(*) as calls,
    try_cast(sum(p.prompt_tokens) as bigint) as prompt_tokens,
    try_cast(sum(p.cache_read_tokens) as bigint) as cache_read_tokens,
    try_cast(sum(p.prompt_tokens) - coalesce(sum(p.cache_read_tokens), 0) as bigint) as uncached_tokens,
    sum(p.cache_read_tokens) / nullif(sum(p.prompt_tokens), 0) as cache_read_share
from prompts as p
inner join sessions as s using (source_id)
group by all
order by uncached_tokens desc, s.session_id
