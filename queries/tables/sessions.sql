-- doc: Sessions, each from the one file that counts for it.
-- grain: one row per session
-- needs: source_status, stored.sources
with recursive counted as (
    select s.*, f.title
    from source_status as s
    inner join stored.sources as f on f.source_key = s.source_key
    where s.is_counted and s.kind <> 'cassette' and s.session_id is not null
),

-- Fixtures may share an id, also with a session: of the links of a kind each id is one.
links as (
    select kind, session_id, arg_min({parent: parent_session_id, origin: origin}, source_key) as link
    from counted
    group by kind, session_id
),

chain as (
    select source_id, kind, session_id as ancestor, parent_session_id as parent, origin, 0 as depth from counted
    union all
    select
        chain.source_id,
        chain.kind,
        chain.parent as ancestor,
        links.link.parent as parent,
        links.link.origin as origin,
        chain.depth + 1 as depth
    from chain
    left join links on links.kind = chain.kind and links.session_id = chain.parent
    -- A chain that bites its own tail ends here, after many rounds.
    where chain.origin = 'subagent' and chain.parent is not null and chain.depth < 64
),

-- Of a circle none is at the top: the first by name stands for it, for all that are in it or below it.
tops as (
    select
        source_id,
        case when max(depth) < 64 then arg_max(ancestor, depth) else min(ancestor) filter (depth > 32) end as root_session_id
    from chain
    group by source_id
)

select
    counted.session_id, counted.source_id, counted.format_version, counted.created_at, counted.cwd,
    counted.workspace, counted.parent_session_id, tops.root_session_id, counted.origin,
    counted.delegation_depth, counted.agent_preset, counted.is_seeded, counted.inherited_events, counted.title,
    counted.first_event_at, counted.last_event_at
from counted
left join tops using (source_id)
