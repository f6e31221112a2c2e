-- doc: Usage samples: what each model call was billed.
-- grain: one row per usage sample; the harness's own fold marks those that a later one replaces
-- needs: stored.usage, source_status
-- The fold of the harness: a sample for the same turn and step as the sample before it stands in its place,
-- unless llm/retry-started for that turn and step came in between, when both were billed.
-- Replaced samples are few: they are found among the few columns that decide, of all copies since that spares
-- to ask which one counts, then looked up.
with current_rows as not materialized (
    select r.*, s.source_id, s.session_id, s.inherited_cut, s.is_counted
    from stored.usage as r
    inner join source_status as s
        on r.source_key = s.source_key
        and r.batch between s.first_batch and s.last_batch
        and (not r.is_tail or r.batch = s.last_batch)
),

-- Turns that may have two samples of a step, among them all that have: their steps set fewer bits than they are.
repeating as (
    select source_key, turn
    from stored.usage
    where kind not in ('compaction', 'retry')
    group by source_key, turn
    having bit_count(bit_or(1::bigint << ((step % 62 + 62) % 62))) < count(step)
),

pairs as (
    select source_key, is_recovered, turn, step, line, seq, next_line, next_seq
    from (
        select
            source_key, is_recovered, turn, step, line, seq,
            lead(line) over following as next_line,
            lead(seq) over following as next_seq
        from current_rows
        semi join repeating using (source_key, turn)
        where kind not in ('compaction', 'retry')
        window following as (partition by source_key, is_recovered, turn, step order by line, seq)
    )
    where next_line is not null and step is not null
),

replaced as (
    select p.source_key, p.is_recovered, p.line, p.seq
    from pairs as p
    anti join current_rows as b
        on b.source_key = p.source_key and b.is_recovered = p.is_recovered
        and (b.line, b.seq) > (p.line, p.seq) and (b.line, b.seq) < (p.next_line, p.next_seq)
        and (
            b.kind not in ('compaction', 'retry')
            or (b.kind = 'retry' and b.turn = p.turn and b.step = p.step)
        )
)

select
    c.source_id, c.line, c.seq, c.session_id, c."at", c.turn, c.step, c.kind, c.provider, c.model, c.served_model,
    c.input_tokens, c.output_tokens, c.cache_read_tokens, c.cache_write_tokens, c.reasoning_tokens, c.total_tokens,
    c.kind <> 'compaction' and (c.source_key, c.is_recovered, c.line, c.seq) in (from replaced) as is_replaced,
    c.seq < c.inherited_cut as is_inherited, c.is_recovered
from current_rows as c
where c.kind <> 'retry' and c.is_counted
