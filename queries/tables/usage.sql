-- doc: Usage samples: what each model call was billed.
-- grain: one row per usage sample; the harness's own fold marks those that a later one replaces
-- needs: stored.usage, source_status
-- The fold of the harness: a sample for the same turn and step as the sample before it stands in its place,
-- unless llm/retry-started for that turn and step came in between, when both were billed.
with current_rows as not materialized (
    select r.*, s.source_id, s.session_id, s.inherited_cut
    from stored.usage as r
    inner join source_status as s
        on r.source_key = s.source_key
        and r.batch between s.first_batch and s.last_batch
        and (not r.is_tail or r.batch = s.last_batch)
    where s.is_counted
),

tries as (
    select
        *,
        count(*) filter (kind = 'retry') over (
            partition by source_key, is_recovered, turn, step order by line, seq
        ) as retries
    from current_rows
    where kind <> 'compaction'
),

folded as (
    select
        *,
        lead(turn) over following = turn and lead(step) over following = step
        and lead(retries) over following = retries as is_replaced
    from tries
    where kind <> 'retry'
    window following as (partition by source_key, is_recovered order by line, seq)
)

select
    source_id, line, seq, session_id, "at", turn, step, kind, provider, model, served_model,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, total_tokens,
    coalesce(is_replaced, false) as is_replaced, seq < inherited_cut as is_inherited, is_recovered
from folded
union all
select
    source_id, line, seq, session_id, "at", turn, step, kind, provider, model, served_model,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, total_tokens,
    false as is_replaced, seq < inherited_cut as is_inherited, is_recovered
from current_rows
where kind = 'compaction'
