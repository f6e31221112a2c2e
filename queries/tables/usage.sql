-- doc: Usage samples: what each model call was billed.
-- grain: one row per usage sample; the harness's own fold marks those that a later one replaces
-- needs: stored.usage, source_status
-- The fold of the harness was done by the reader: a sample names the one before it where it stands in its place, that is
-- where both are of the same turn and step and no llm/retry-started of these came in between, when both were billed.
with current_rows as not materialized (
    select r.*, s.source_id, s.session_id, s.inherited_cut, s.is_counted
    from stored.usage as r
    inner join source_status as s
        on r.source_key = s.source_key
        and r.batch between s.first_batch and s.last_batch
        and (not r.is_tail or r.batch = s.last_batch)
),

replaced as (
    select source_key, is_recovered, replaces_line, replaces_seq from current_rows where replaces_line is not null
)

select
    c.source_id, c.line, c.seq, c.session_id, c."at", c.turn, c.step, c.kind, c.provider, c.model, c.served_model,
    c.input_tokens, c.output_tokens, c.cache_read_tokens, c.cache_write_tokens, c.reasoning_tokens, c.total_tokens,
    (c.source_key, c.is_recovered, c.line, c.seq) in (from replaced) as is_replaced,
    c.seq < c.inherited_cut as is_inherited, c.is_recovered
from current_rows as c
where c.is_counted
