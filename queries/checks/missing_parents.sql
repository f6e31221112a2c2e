-- doc: Sessions whose parent is not in the lake: their tokens and calls are added to no root session but themselves.
-- grain: one row per session
-- needs: sessions, sources
-- severity: warn
-- Parents may be deleted, or lie in a home that was not scanned.
select
    'session' as subject_kind, c.session_id as subject_id, s.path, null::varchar as position,
    'the ' || case when c.origin = 'subagent' then 'sub-agent' else 'fork' end || ' came from the session '
    || c.parent_session_id || ', which is not in the lake: scan the home that it lies in, if it still exists' as message
from sessions as c
inner join sources as s using (source_id)
anti join sessions as p on p.session_id = c.parent_session_id
where c.parent_session_id is not null
