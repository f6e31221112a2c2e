-- doc: Sub-agent sessions as calls: who asked, for what, and how the last turn ended.
-- grain: one row per sub-agent session
-- needs: sessions, source_status, stored.events, stored.messages, stored.tool_calls
-- prompt is the first own message that is no injected context, output the last answer of the last turn: content
-- blocks as JSON, null where there is none. called_at is the tool call after which the parent listed the child;
-- parents list children since format 3. Half a character is U+FFFD in them.
with files as materialized (
    select source_key, source_id, session_id, origin, first_batch, last_batch, inherited_cut
    from source_status
    where is_counted and kind <> 'cassette' and session_id is not null
),

-- What events say is long: it is looked up once, of those that count.
own as materialized (
    select e.source_key, e.batch, e.line, e.seq, e.type, e."at", e.turn
    from stored.events as e
    inner join files as f
        on e.source_key = f.source_key
        and e.batch between f.first_batch and f.last_batch
        and (not e.is_tail or e.batch = f.last_batch)
    where e.type in (
        'subagent/descriptor', 'user/message', 'assistant/message', 'turn/start', 'turn/end', 'subagent/catalog'
    )
    and e.seq >= f.inherited_cut
    and (e.type = 'subagent/catalog' or (f.origin = 'subagent' and not e.is_recovered))
),

last_turns as (select source_key, max(turn) as turn from own where type <> 'subagent/catalog' group by source_key),

wanted as (
    select
        source_key, batch, line, seq, null::timestamptz as ended_at,
        case type when 'subagent/descriptor' then 'descriptor' else 'child' end as what
    from own
    where type in ('subagent/descriptor', 'subagent/catalog')
    union all by name
    select source_key, batch, line, seq, 'prompt' as what
    from stored.messages
    semi join (from own where type <> 'subagent/catalog') using (source_key, batch, line, seq)
    where role = 'user' and coalesce(source_kind, 'user') in ('user', 'coordinator', 'agent-message')
    union all by name
    select source_key, batch, line, seq, case type when 'turn/end' then 'end' else 'output' end as what,
        case when type = 'turn/end' then "at" end as ended_at
    from own
    semi join last_turns using (source_key, turn)
    where type in ('assistant/message', 'turn/end')
),

told as materialized (
    select
        w.source_key, w.seq, w.what, w.ended_at,
        case w.what
            when 'descriptor' then parsable(e.data)
            when 'child' then json_extract_string(parsable(e.data), '$.childId')
            when 'end' then json_extract_string(parsable(e.data), '$.reason.kind')
        end as text,
        case w.what
            when 'prompt' then json_extract(
                coalesce(json_extract(parsable(e.data), '$.message'), parsable(e.data)), '$.content'
            )
            when 'output' then json_extract(parsable(e.data), '$.message.content')
        end as content
    from wanted as w
    inner join stored.events as e using (source_key, batch, line, seq)
    where e.type in ('subagent/descriptor', 'user/message', 'assistant/message', 'turn/end', 'subagent/catalog')
),

said as (
    select
        source_key,
        arg_min(text, seq) filter (what = 'descriptor') as descriptor,
        arg_min(content, seq) filter (what = 'prompt') as prompt,
        arg_max(content, seq) filter (what = 'output') as output,
        arg_max(text, seq) filter (what = 'end') as stop_reason,
        max(ended_at) as ended_at
    from told
    where what <> 'child'
    group by source_key
),

asked as (
    select c.source_key, c.seq, c."at"
    from stored.tool_calls as c
    inner join files as f
        on c.source_key = f.source_key
        and c.batch between f.first_batch and f.last_batch
        and (not c.is_tail or c.batch = f.last_batch)
    where c.name in ('subagent', 'subagent_fork', 'workflow')
),

listed as (
    select p.session_id as parent_session_id, l.text as session_id, max(c."at") as called_at
    from told as l
    inner join asked as c on c.source_key = l.source_key and c.seq < l.seq
    inner join files as p on p.source_key = l.source_key
    where l.what = 'child'
    group by p.session_id, l.text
)

select
    c.session_id, c.source_id, c.parent_session_id, c.root_session_id, c.delegation_depth,
    json_extract_string(t.descriptor, '$.mode') as mode,
    json_extract_string(t.descriptor, '$.provider') as provider,
    json_extract_string(t.descriptor, '$.label') as label,
    t.descriptor, t.prompt, l.called_at, c.created_at, t.ended_at, t.stop_reason, t.output
from sessions as c
left join files as f on f.source_id = c.source_id
left join said as t on t.source_key = f.source_key
left join listed as l on l.parent_session_id = c.parent_session_id and l.session_id = c.session_id
where c.origin = 'subagent'
order by c.created_at, c.session_id
