-- doc: Rows that a key should name alone: the same file and line twice in a table, or a session that counts twice.
-- grain: one row per key that is not unique
-- needs: stored.events, source_status, sessions, sources, messages, usage, tool_results, tool_calls, cassettes, interactions
-- severity: fail
-- Of events the lines are first sieved, 64 at a time, by a bit each; only where bits fall together rows are compared.
with written as (
    select e.source_key, e.line, e.seq, e.is_recovered
    from stored.events as e
    inner join source_status as s
        on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
        and (not e.is_tail or e.batch = s.last_batch)
    where s.is_counted
),

crowded as (
    select source_key, line // 64 as block
    from written
    group by source_key, block
    having count(*) > bit_count(bit_or(1::ubigint << (line % 64)::ubigint))
),

twice as (
    select 'events' as name, s.source_id, w.line, w.seq, count(*) as rows
    from written as w
    semi join crowded as c on c.source_key = w.source_key and c.block = w.line // 64
    inner join source_status as s on s.source_key = w.source_key
    group by all
    having count(*) > 1
    union all
    select 'messages' as name, source_id, line, seq, count(*) as rows from messages group by all having count(*) > 1
    union all
    select 'usage' as name, source_id, line, seq, count(*) as rows from usage group by all having count(*) > 1
    union all
    select 'tool_results' as name, source_id, line, seq, count(*) as rows
    from tool_results
    group by all
    having count(*) > 1
    union all
    select 'tool_calls' as name, source_id, line, seq, count(*) as rows
    from tool_calls
    group by all
    having count(*) > 1
    union all
    select 'interactions' as name, source_id, line, null as seq, count(*) as rows
    from interactions
    group by all
    having count(*) > 1
    union all
    select 'cassettes' as name, source_id, null as line, null as seq, count(*) as rows
    from cassettes
    group by all
    having count(*) > 1
    union all
    select 'sources' as name, source_id, null as line, null as seq, count(*) as rows
    from sources
    group by all
    having count(*) > 1
    union all
    select 'sessions' as name, any_value(s.source_id) as source_id, null as line, null as seq, count(*) as rows
    from sessions as s
    inner join sources as f using (source_id)
    where f.kind = 'session'
    group by s.session_id
    having count(*) > 1
)

select
    'file' as subject_kind, t.source_id as subject_id, any_value(f.path) as path, 'line ' || t.line as position,
    t.name || ' has ' || t.rows || ' rows where its key allows one' || coalesce(' (seq ' || t.seq || ')', '')
    || ': scan with --full, which reads the file again' as message
from twice as t
left join sources as f using (source_id)
group by all
