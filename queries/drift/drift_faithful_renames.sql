-- doc: Ids that differ and stand for each other everywhere, one for one.
-- grain: one row per pair of scenarios and pair of ids
-- needs: drift_renames, drift.leaves
-- An id of a background job has to be one: the event that registers it says so, as does its spelling.
with used as (
    select pair, kind, expected, actual
    from drift_renames
    -- Of what the stream hides, the place alone tells what it stands for.
    where kind <> 'other'
    group by all
),

claimed as (
    select pair, unnest([expected, actual]) as id
    from drift.leaves
    where member = 'data.jobId'
)

select u.pair, u.kind, u.expected, u.actual
from used as u
where
    u.expected <> u.actual
    and (u.kind <> 'job' or (u.expected like 'bash-%' and u.actual like 'bash-%') or (
        (u.pair, u.expected) in (select (c.pair, c.id) from claimed as c)
        and (u.pair, u.actual) in (select (c.pair, c.id) from claimed as c)
    ))
    and not exists (
        select 1 from used as o
        where
            o.pair = u.pair and o.kind = u.kind
            and ((o.expected = u.expected and o.actual <> u.actual) or (o.actual = u.actual and o.expected <> u.expected))
    )
