-- doc: Tokens by day in the time zone of the variable time_zone, by default the one DuckDB is set to.
-- grain: one row per calendar day with usage; day is null where calls have no time
-- needs: billed_usage
-- params: time_zone
-- The share is a ratio of sums, not a mean of ratios.
select
    timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), "at")::date as day,
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
group by day
order by day
