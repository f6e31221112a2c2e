-- doc: Sub-agent sessions as calls: who asked, for what, and how the last turn ended.
-- grain: one row per sub-agent session
-- needs: sessions, events, messages, calls
-- prompt is the first own message that is no injected context, output the last answer of the last turn: content
-- blocks as JSON, null where there is none. called_at is the tool call after which the parent listed the child;
-- parents list children since format 3. Half a character is U+FFFD in them.
with children as (
    select s.* from sessions as s where s.origin = 'subagent'
),

own as materialized (
    select e.source_id, e.line, e.seq, e.type, e."at", e.turn
    from events as e
    semi join children as c using (source_id)
    where not e.is_inherited and not e.is_recovered
        and e.type in ('subagent/descriptor', 'user/message', 'assistant/message', 'turn/start', 'turn/end')
),

last_turns as (select source_id, max(turn) as turn from own group by source_id),

-- What events say is long: it is looked up once, of those that count.
wanted as (
    select source_id, line, seq, 'descriptor' as what, null::timestamptz as ended_at
    from own
    where type = 'subagent/descriptor'
    union all
    select source_id, line, seq, 'prompt' as what, null as ended_at
    from messages
    semi join own using (source_id, line, seq)
    where role = 'user' and coalesce(source_kind, 'user') in ('user', 'coordinator', 'agent-message')
    union all
    select
        o.source_id, o.line, o.seq, case o.type when 'turn/end' then 'end' else 'output' end as what,
        case when o.type = 'turn/end' then o."at" end as ended_at
    from own as o
    semi join last_turns as t on t.source_id = o.source_id and t.turn = o.turn
    where o.type in ('assistant/message', 'turn/end')
),

said as (
    select
        w.source_id,
        arg_min(parsable(e.data), w.seq) filter (w.what = 'descriptor') as descriptor,
        arg_min(
            json_extract(
                coalesce(json_extract(parsable(e.data), '$.message'), parsable(e.data)), '$.content'
            ),
            w.seq
        ) filter (w.what = 'prompt') as prompt,
        arg_max(json_extract(parsable(e.data), '$.message.content'), w.seq) filter (w.what = 'output') as output,
        arg_max(json_extract_string(parsable(e.data), '$.reason.kind'), w.seq) filter (w.what = 'end') as stop_reason,
        max(w.ended_at) as ended_at
    from wanted as w
    inner join events as e using (source_id, line, seq)
    group by w.source_id
),

listed as (
    select
        p.session_id as parent_session_id, json_extract_string(parsable(l.data), '$.childId') as session_id,
        max(c."at") as called_at
    from events as l
    inner join sessions as p using (source_id)
    inner join calls as c on c.source_id = l.source_id and c.seq < l.seq
    where l.type = 'subagent/catalog' and not l.is_inherited
        and c.name in ('subagent', 'subagent_fork', 'workflow')
    group by p.session_id, json_extract_string(parsable(l.data), '$.childId')
)

select
    c.session_id, c.source_id, c.parent_session_id, c.root_session_id, c.delegation_depth,
    json_extract_string(t.descriptor, '$.mode') as mode,
    json_extract_string(t.descriptor, '$.provider') as provider,
    json_extract_string(t.descriptor, '$.label') as label,
    t.descriptor, t.prompt, l.called_at, c.created_at, t.ended_at, t.stop_reason, t.output
from children as c
left join said as t using (source_id)
left join listed as l on l.parent_session_id = c.parent_session_id and l.session_id = c.session_id
order by c.created_at, c.session_id
