-- doc: Tokens and cost of each top-level session together with all its sub-agents.
-- grain: one row per root session with usage, its own or below it
-- needs: priced_usage, sessions
-- sessions counts the tree, sub-agents without usage included. The root itself may be unknown: its title is then
-- null and it is not counted. Fixtures that share an id are one tree.
with trees as (
    select
        root_session_id,
        count(*) as sessions,
        arg_min(title, source_id) filter (session_id = root_session_id) as title,
        arg_min(workspace, source_id) filter (session_id = root_session_id) as workspace,
        min(coalesce(created_at, first_event_at)) as started_at
    from sessions
    group by root_session_id
),

spent as (
    select s.root_session_id, usage_totals(u) as totals
    from priced_usage as u
    left join sessions as s using (source_id)
    group by s.root_session_id
)

select b.root_session_id, t.title, t.workspace, t.started_at, t.sessions, unnest(b.totals)
from spent as b
left join trees as t on t.root_session_id = b.root_session_id
order by b.totals.total_tokens desc nulls last, b.root_session_id
