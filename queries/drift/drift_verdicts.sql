-- doc: The gravest cause of each part that differs.
-- grain: one row per part that differs
-- needs: drift_changes, drift_causes
select
    d.pair, d.part, arg_min(d.cause, c.rank) as cause, arg_min(c.tier, c.rank) as tier,
    count(distinct d.place) as places, list(distinct d.cause) as causes
from drift_changes as d
inner join drift_causes as c on c.cause = d.cause
group by d.pair, d.part
order by d.pair, d.part
