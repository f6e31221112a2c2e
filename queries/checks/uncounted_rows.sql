-- doc: Rows that belong to no file that is counted: another copy of the session, or a file that is not known.
-- grain: one row per table and file
-- needs: sources, sessions, messages, usage, tool_results, calls, cassettes, interactions
-- severity: fail
with shown as (
    select 'sessions' as name, source_id, count(*) as rows from sessions group by source_id
    union all
    select 'messages' as name, source_id, count(*) as rows from messages group by source_id
    union all
    select 'usage' as name, source_id, count(*) as rows from usage group by source_id
    union all
    select 'tool_results' as name, source_id, count(*) as rows from tool_results group by source_id
    union all
    select 'tool_calls' as name, source_id, count(*) as rows from calls group by source_id
    union all
    select 'cassettes' as name, source_id, count(*) as rows from cassettes group by source_id
    union all
    select 'interactions' as name, source_id, count(*) as rows from interactions group by source_id
)

select
    'file' as subject_kind, r.source_id as subject_id, s.path, null::varchar as position,
    r.name || ' shows ' || r.rows || ' rows of a file that is not counted'
    || coalesce(' (' || s.status || ')', '') as message
from shown as r
left join sources as s using (source_id)
where s.is_counted is distinct from true
