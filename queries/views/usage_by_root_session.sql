-- doc: Tokens and cost of each top-level session together with all its sub-agents.
-- grain: one row per root session with usage, its own or below it; of fixtures one per file at the top
-- needs: priced_usage, sessions
-- The root may be unknown itself: its title is then null, and sessions counts the sub-agents alone.
with spent as (
    select s.root_session_id, count(distinct u.source_id) as sessions, usage_totals(u) as totals
    from priced_usage as u
    left join sessions as s using (source_id)
    group by s.root_session_id
),

roots as (
    select
        session_id, arg_min(title, source_id) as title, arg_min(workspace, source_id) as workspace,
        min(coalesce(created_at, first_event_at)) as started_at
    from sessions
    group by session_id
)

select b.root_session_id, r.title, r.workspace, r.started_at, b.sessions, unnest(b.totals)
from spent as b
left join roots as r on r.session_id = b.root_session_id
order by b.totals.total_tokens desc nulls last, b.root_session_id
