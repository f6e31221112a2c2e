-- doc: Sub-agent sessions as calls: who asked, for what, and how the last turn ended.
-- grain: one row per sub-agent session
-- needs: sessions, events, messages
-- prompt is the first own message that is no injected context, output the last answer of the last turn: content
-- blocks as JSON, null where there is none. called_at is the tool call after which the parent listed the child;
-- parents list children since format 3. Half a character is U+FFFD in them.
with children as (
    select s.* from sessions as s where s.origin = 'subagent'
),

own as (
    select e.source_id, e.line, e.seq, e.type, e."at", e.turn, parsable(e.data) as data
    from events as e
    semi join children as c using (source_id)
    where not e.is_inherited and not e.is_recovered
        and e.type in ('subagent/descriptor', 'user/message', 'assistant/message', 'turn/start', 'turn/end')
),

told as (
    select
        source_id,
        arg_min(data, seq) filter (type = 'subagent/descriptor') as descriptor,
        max(turn) as last_turn
    from own
    group by source_id
),

prompted as (
    select
        m.source_id,
        arg_min(json_extract(coalesce(json_extract(o.data, '$.message'), o.data), '$.content'), m.seq) as prompt
    from messages as m
    inner join own as o using (source_id, line, seq)
    where m.role = 'user' and coalesce(m.source_kind, 'user') in ('user', 'coordinator', 'agent-message')
    group by m.source_id
),

ended as (
    select
        o.source_id,
        arg_max(json_extract(o.data, '$.message.content'), o.seq) filter (o.type = 'assistant/message') as output,
        arg_max(json_extract_string(o.data, '$.reason.kind'), o.seq) filter (o.type = 'turn/end') as stop_reason,
        max(o."at") filter (o.type = 'turn/end') as ended_at
    from own as o
    inner join told as t on t.source_id = o.source_id and t.last_turn = o.turn
    group by o.source_id
),

listed as (
    select
        p.session_id as parent_session_id, json_extract_string(parsable(l.data), '$.childId') as session_id,
        max(c."at") as called_at
    from events as l
    inner join sessions as p using (source_id)
    inner join events as c on c.source_id = l.source_id and c.type = 'tool/call' and c.seq < l.seq
    where l.type = 'subagent/catalog' and not l.is_inherited
        and (json_extract_string(parsable(c.data), '$.name') in ('subagent', 'subagent_fork', 'workflow'))
    group by p.session_id, json_extract_string(parsable(l.data), '$.childId')
)

select
    c.session_id, c.source_id, c.parent_session_id, c.root_session_id, c.delegation_depth,
    json_extract_string(t.descriptor, '$.mode') as mode,
    json_extract_string(t.descriptor, '$.provider') as provider,
    json_extract_string(t.descriptor, '$.label') as label,
    t.descriptor, p.prompt, l.called_at, c.created_at, e.ended_at, e.stop_reason, e.output
from children as c
left join told as t using (source_id)
left join prompted as p using (source_id)
left join ended as e using (source_id)
left join listed as l on l.parent_session_id = c.parent_session_id and l.session_id = c.session_id
order by c.created_at, c.session_id
