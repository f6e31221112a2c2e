-- doc: Events for which the table of their kind has no row, or rows for which there is no event.
-- grain: one row per file and table
-- needs: source_status, stored.events, stored.messages, stored.tool_calls, stored.tool_results
-- severity: fail
with shown as (
    select source_key, source_id, path, first_batch, last_batch from source_status where is_counted
),

said as (
    select
        e.source_key,
        case
            when e.type in ('user/message', 'assistant/message', 'system/message', 'developer/message') then 'messages'
            when e.type = 'tool/call' then 'tool_calls'
            else 'tool_results'
        end as name,
        count(*) as events,
        0 as rows
    from stored.events as e
    inner join shown as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
    where not e.is_tail and e.type in (
        'user/message', 'assistant/message', 'system/message', 'developer/message', 'tool/call', 'tool/result'
    )
    group by e.source_key, name
    union all
    select m.source_key, 'messages' as name, 0 as events, count(*) as rows
    from stored.messages as m
    inner join shown as s on m.source_key = s.source_key and m.batch between s.first_batch and s.last_batch
    where not m.is_tail
    group by m.source_key
    union all
    select c.source_key, 'tool_calls' as name, 0 as events, count(*) as rows
    from stored.tool_calls as c
    inner join shown as s on c.source_key = s.source_key and c.batch between s.first_batch and s.last_batch
    where not c.is_tail
    group by c.source_key
    union all
    select r.source_key, 'tool_results' as name, 0 as events, count(*) as rows
    from stored.tool_results as r
    inner join shown as s on r.source_key = s.source_key and r.batch between s.first_batch and s.last_batch
    where not r.is_tail
    group by r.source_key
),

counted as (
    select source_key, name, sum(events)::bigint as events, sum(rows)::bigint as rows
    from said
    group by source_key, name
)

select
    'file' as subject_kind, s.source_id as subject_id, s.path, null::varchar as position,
    c.name || ' has ' || c.rows || ' rows for ' || c.events
    || ' events of its kind: scan with --full, which reads the file again' as message
from counted as c
inner join shown as s using (source_key)
where c.events <> c.rows
