-- doc: Usage samples whose stated total is not the sum of their parts.
-- grain: one row per usage sample
-- needs: stored.usage, source_status
-- severity: fail
-- The sum is what is counted. Samples without a stated total (early runtimes) have nothing to disagree with.
with summed as (
    select
        s.session_id, s.path, u.line, u.total_tokens,
        u.input_tokens::hugeint + u.output_tokens + coalesce(u.cache_read_tokens, 0)
        + coalesce(u.cache_write_tokens, 0) as sum_tokens
    from stored.usage as u
    inner join source_status as s on u.source_key = s.source_key and u.batch between s.first_batch and s.last_batch
    where s.is_counted and not u.is_tail
)

select
    'session' as subject_kind, session_id as subject_id, path, 'line ' || line as position,
    'the record states ' || total_tokens || ' tokens in all, its parts are ' || sum_tokens
    || '; the parts are counted' as message
from summed
where total_tokens <> sum_tokens
