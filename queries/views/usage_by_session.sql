-- doc: Tokens and cost of each session's own calls; sub-agents have rows of their own.
-- grain: one row per session with usage
-- needs: priced_usage, sessions
select
    s.session_id, b.source_id, s.root_session_id, s.origin, s.title, s.workspace,
    coalesce(s.created_at, s.first_event_at) as started_at, unnest(b.totals)
from (select u.source_id, usage_totals(u) as totals from priced_usage as u group by u.source_id) as b
left join sessions as s using (source_id)
order by b.totals.total_tokens desc nulls last, s.session_id, b.source_id
