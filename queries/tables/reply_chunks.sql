-- doc: When the first part of a reply came whose stream is chunks of their own, as in formats 0 and 1.
-- grain: one row per own step with a reply and such chunks
-- needs: own_events, own_facts, own_messages
-- Of the chunks the first counts that no retry follows. Since format 2 the stream is embedded in the reply, and so is
-- its time: first_chunk_at of messages.
with chunks as not materialized (
    select source_key, source_id, turn, step, line, "at" from own_events where type = 'assistant/chunk' and format_version < 2
),

retried as not materialized (
    select source_key, turn, step, line from own_facts where type = 'llm/retry-started' and format_version < 2
),

replies as not materialized (
    select source_key, turn, step
    from own_messages
    where role = 'assistant' and not is_replacement and format_version < 2
)

select c.source_key, any_value(c.source_id) as source_id, c.turn, c.step, min(c."at") as first_chunk_at
from chunks as c
anti join retried as r on r.source_key = c.source_key and r.turn = c.turn and r.step = c.step and r.line > c.line
semi join replies as p on p.source_key = c.source_key and p.turn = c.turn and p.step = c.step
group by c.source_key, c.turn, c.step
