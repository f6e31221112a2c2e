-- doc: When the first part of a reply came whose stream is chunks of their own, as in formats 0 and 1.
-- grain: one row per own step with a reply and such chunks
-- needs: stored.events, stored.event_facts, stored.messages, source_status
-- Of the chunks the first counts that no retry follows. Since format 2 the stream is embedded in the reply, and so is
-- its time: first_chunk_at of messages.
with counted as (
    select source_key, first_batch, last_batch, inherited_cut from source_status where is_counted and format_version < 2
),

chunks as not materialized (
    select e.source_key, e.turn, e.step, e.line, e."at"
    from stored.events as e
    inner join counted as s
        on e.source_key = s.source_key
        and e.batch between s.first_batch and s.last_batch
        and (not e.is_tail or e.batch = s.last_batch)
    where not e.is_recovered and e.seq >= s.inherited_cut and e.type = 'assistant/chunk'
),

retried as not materialized (
    select f.source_key, f.turn, f.step, f.line
    from stored.event_facts as f
    inner join counted as s
        on f.source_key = s.source_key
        and f.batch between s.first_batch and s.last_batch
        and (not f.is_tail or f.batch = s.last_batch)
    where not f.is_recovered and f.seq >= s.inherited_cut and f.type = 'llm/retry-started'
),

replies as not materialized (
    select m.source_key, m.turn, m.step
    from stored.messages as m
    inner join counted as s
        on m.source_key = s.source_key
        and m.batch between s.first_batch and s.last_batch
        and (not m.is_tail or m.batch = s.last_batch)
    where not m.is_recovered and m.seq >= s.inherited_cut and m.role = 'assistant' and not m.is_replacement
)

select c.source_key, c.turn, c.step, min(c."at") as first_chunk_at
from chunks as c
anti join retried as r on r.source_key = c.source_key and r.turn = c.turn and r.step = c.step and r.line > c.line
semi join replies as p on p.source_key = c.source_key and p.turn = c.turn and p.step = c.step
group by c.source_key, c.turn, c.step
