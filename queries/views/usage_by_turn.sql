-- doc: Tokens and cost of each turn.
-- grain: one row per session and turn with usage; turn is null for calls outside of turns
-- needs: priced_usage
select session_id, source_id, turn, started_at, totals.*
from (
    select
        any_value(u.session_id) as session_id, u.source_id, u.turn, min(u."at") as started_at,
        usage_totals(u) as totals
    from priced_usage as u
    group by u.source_id, u.turn
)
order by session_id, source_id, turn
