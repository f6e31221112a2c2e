-- doc: Tokens and cost by workspace, the folder that a session's log lies in.
-- grain: one row per workspace with usage; null for logs outside of a DSH layout
-- needs: priced_usage, sessions
select workspace, totals.*
from (
    select s.workspace, usage_totals(u) as totals
    from priced_usage as u
    left join sessions as s using (source_id)
    group by s.workspace
)
order by totals.total_tokens desc nulls last, workspace
