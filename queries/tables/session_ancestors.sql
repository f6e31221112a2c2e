-- doc: Every session with itself and all those above it in its chain of sub-agents.
-- grain: one row per session and session above it that is known
-- needs: source_status
-- Fixtures may share an id, also with a session: of the sessions of a kind the first of an id stands for it. A chain that
-- bites its own tail ends at 64, and each session above is named once.
with recursive counted as (
    select source_key, kind, session_id, parent_session_id, origin
    from source_status
    where is_counted and kind <> 'cassette' and session_id is not null
),

links as (
    select c.source_key as child_key, min(p.source_key) as parent_key
    from counted as c
    inner join counted as p on p.kind = c.kind and p.session_id = c.parent_session_id
    where c.origin = 'subagent'
    group by c.source_key
),

chain as (
    select source_key, source_key as ancestor_key, 0 as distance from counted
    union all
    select chain.source_key, links.parent_key as ancestor_key, chain.distance + 1 as distance
    from chain
    inner join links on links.child_key = chain.ancestor_key
    where chain.distance < 64
)

select source_key, ancestor_key, min(distance) as distance
from chain
group by source_key, ancestor_key
