-- doc: What could not be read or was odd, by kind, with the first place where it was met.
-- grain: one row per severity and code
-- needs: findings
select
    severity,
    code,
    count(*) as findings,
    count(distinct path) as files,
    min(path || case when position is null then '' else ' (' || position || ')' end) as example
from findings
group by severity, code
order by array_position(['fail', 'warn', 'info'], severity), findings desc, code
