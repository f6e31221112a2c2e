-- doc: Rows that a key should name alone: the same file, line and seq twice in a table, or a session that counts twice.
-- grain: one row per key that is not unique
-- needs: source_status, stored.events, stored.messages, stored.usage, stored.tool_results, stored.tool_calls, stored.interactions, stored.cassettes
-- severity: fail
-- The lines are first sieved, 64 at a time, by a bit each; only where bits fall together rows are compared.
with written as (
    select 'events' as name, source_key, batch, is_tail, is_recovered, line, seq from stored.events
    union all
    select 'messages' as name, source_key, batch, is_tail, is_recovered, line, seq from stored.messages
    union all
    select 'usage' as name, source_key, batch, is_tail, is_recovered, line, seq from stored.usage
    union all
    select 'tool_results' as name, source_key, batch, is_tail, is_recovered, line, seq from stored.tool_results
    union all
    select 'tool_calls' as name, source_key, batch, is_tail, is_recovered, line, seq from stored.tool_calls
    union all
    select 'interactions' as name, source_key, batch, is_tail, is_recovered, line, null as seq from stored.interactions
    union all
    select 'cassettes' as name, source_key, batch, is_tail, is_recovered, 1 as line, null as seq from stored.cassettes
),

shown as (
    select w.name, w.source_key, w.line, w.seq
    from written as w
    inner join source_status as s
        on w.source_key = s.source_key
        and w.batch between s.first_batch and s.last_batch
        and (not w.is_tail or w.batch = s.last_batch)
    where s.is_counted
),

crowded as (
    select name, source_key, line // 64 as block
    from shown
    group by name, source_key, block
    having count(*) > bit_count(bit_or(1::ubigint << (line % 64)::ubigint))
),

twice as (
    select w.name, s.source_id, s.path, w.line, w.seq, count(*) as rows
    from shown as w
    semi join crowded as c on c.name = w.name and c.source_key = w.source_key and c.block = w.line // 64
    inner join source_status as s on s.source_key = w.source_key
    group by all
    having count(*) > 1
    union all
    select 'sources' as name, source_id, any_value(path) as path, null as line, null as seq, count(*) as rows
    from source_status
    group by source_id
    having count(*) > 1
    union all
    select 'sessions' as name, any_value(source_id) as source_id, any_value(path) as path, null as line, null as seq,
        count(*) as rows
    from source_status
    where is_counted and kind = 'session' and session_id is not null
    group by session_id
    having count(*) > 1
)

select
    'file' as subject_kind, source_id as subject_id, path, 'line ' || line as position,
    name || ' has ' || rows || ' rows where its key allows one' || coalesce(' (seq ' || seq || ')', '')
    || ': scan with --full, which reads the file again' as message
from twice
