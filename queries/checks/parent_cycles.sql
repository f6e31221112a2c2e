-- doc: Sub-agents that are their own parents, by way of others: no session is at the top of them.
-- grain: one row per circle
-- needs: sessions, sources
-- severity: warn
-- The harness writes none; somebody changed or mixed up headers. The first session by name stands for the circle.
select
    'session' as subject_kind, c.session_id as subject_id, s.path, null::varchar as position,
    'the parents of this sub-agent lead back to itself: the totals of its root session are those of all in the circle '
    || 'and below it' as message
from sessions as c
inner join sources as s using (source_id)
semi join sessions as p on p.session_id = c.parent_session_id
where c.origin = 'subagent' and c.session_id = c.root_session_id
