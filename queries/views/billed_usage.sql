-- doc: The usage samples that count: own, in force, from whole frames.
-- grain: one row per billed model call
-- needs: usage
-- total is computed from the four buckets, since early runtimes state none; reasoning is part of output.
select
    *,
    input_tokens + output_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as billed_tokens
from usage
where not is_replaced and not is_inherited and not is_recovered
