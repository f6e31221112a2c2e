-- doc: Whether each part of a pair of scenarios is equal line by line, and the first line in which it is not.
-- grain: one row per part that both sides have
-- needs: drift.rows, drift.parts
with lines as (
    select
        coalesce(e.pair, a.pair) as pair,
        coalesce(e.part, a.part) as part,
        coalesce(e.line, a.line) as line,
        e.digest is not distinct from a.digest as is_same
    from (select * from drift.rows where side = 'expected') as e
    full join (select * from drift.rows where side = 'actual') as a
        on a.pair = e.pair and a.part = e.part and a.line = e.line
)

select p.pair, p.part, min(l.line) filter (not l.is_same) as first_different_line
from drift.parts as p
left join lines as l on l.pair = p.pair and l.part = p.part
where p.has_expected and p.has_actual
group by p.pair, p.part
order by p.pair, p.part
