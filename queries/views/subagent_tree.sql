-- doc: Sub-agents and those who have some: place in the tree, depth, fan-out, and how each was started.
-- grain: one row per session that is a sub-agent or has one
-- needs: sessions, session_ancestors, source_status, event_facts
-- depth is counted from the topmost session that is known, 0 there; delegation_depth is what the header states. children
-- are direct ones, descendants all below; height is how deep the tree goes below it. mode and provider are those of the
-- child's own descriptor. Of parents that are not in the lake is_parent_known is false.
with keys as (select source_key, source_id from source_status where is_counted),

above as (
    select source_key, max(distance) as depth, arg_max(ancestor_key, distance) as top_key
    from session_ancestors
    group by source_key
),

below as (
    select
        ancestor_key as source_key,
        count(*) filter (distance = 1) as children,
        count(*) filter (distance > 0) as descendants,
        max(distance) as height
    from session_ancestors
    group by ancestor_key
),

described as (
    select source_id, arg_min({mode: name, provider: cause, model: model}, line) as said
    from event_facts
    where type = 'subagent/descriptor' and not is_inherited and not is_recovered
    group by source_id
)

select
    s.session_id, s.source_id, s.parent_session_id, s.root_session_id, s.origin, s.delegation_depth,
    a.depth, b.children, b.descendants, b.height,
    case when s.origin = 'subagent' then a.depth > 0 end as is_parent_known,
    d.said.mode as mode, d.said.provider as provider, d.said.model as model,
    s.created_at, s.first_event_at, s.last_event_at
from sessions as s
inner join keys as k on k.source_id = s.source_id
inner join above as a on a.source_key = k.source_key
inner join below as b on b.source_key = k.source_key
left join described as d on d.source_id = s.source_id
where s.origin = 'subagent' or b.children > 0
order by s.root_session_id, a.depth, s.created_at, s.session_id, s.source_id
