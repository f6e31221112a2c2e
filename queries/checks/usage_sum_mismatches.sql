-- doc: Usage samples whose stated total is not the sum of their parts.
-- grain: one row per usage sample
-- needs: usage, sources
-- severity: fail
-- The sum is what is counted. Samples without a stated total (early runtimes) have nothing to disagree with.
with summed as (
    select
        *,
        input_tokens::hugeint + output_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)
            as sum_tokens
    from usage
    where not is_recovered
)

select
    'session' as subject_kind, u.session_id as subject_id, s.path, 'line ' || u.line as position,
    'the record states ' || u.total_tokens || ' tokens in all, its parts are ' || u.sum_tokens
    || '; the parts are counted' as message
from summed as u
inner join sources as s using (source_id)
where u.total_tokens <> u.sum_tokens
