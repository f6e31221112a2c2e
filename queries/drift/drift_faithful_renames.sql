-- doc: Ids that differ and stand for each other everywhere, one for one.
-- grain: one row per pair of scenarios and pair of ids
-- needs: drift_renames, drift.leaves
-- An id of a background job has to be one: the event that registers it says so, as does its spelling.
with used as (
    select
        pair, kind, expected, actual,
        count(*) over (partition by pair, kind, expected) as partners,
        count(*) over (partition by pair, kind, actual) as counterparts
    from (select distinct pair, kind, expected, actual from drift_renames where kind <> 'other') as pairs
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
    and u.partners = 1 and u.counterparts = 1
