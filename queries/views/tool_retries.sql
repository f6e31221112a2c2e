-- doc: What was done after a tool had failed: whether it was called again in the same turn, and how that ended.
-- grain: one row per tool name with own failed calls
-- needs: tool_calls
-- The rule: a failed call was retried if the same tool was called later in the same turn, after the failure was
-- known (the call stands behind the failed result). The first such call is the retry; one call may be the retry of
-- several failures before it. same_arguments: the retry asked for just the same; recovered: it ended ok.
with own as materialized (
    select source_id, turn, name, line, result_line, status, arguments_sha256
    from tool_calls
    where not is_inherited and not is_recovered
),

failed as (select * from own where status = 'error'),

retried as (
    select f.name, f.arguments_sha256, r.line as retry_line, r.status as retry_status,
        r.arguments_sha256 as retry_sha256
    from failed as f
    asof left join (select * from own semi join failed using (source_id, turn, name)) as r
        on r.source_id = f.source_id and r.turn = f.turn and r.name = f.name and f.result_line < r.line
)

select
    name,
    count(*) as failures,
    count(retry_line) as retried,
    count(*) filter (retry_sha256 = arguments_sha256) as same_arguments,
    count(*) filter (retry_status = 'ok') as recovered,
    count(retry_line) / count(*) as retry_rate,
    count(*) filter (retry_status = 'ok') / nullif(count(retry_line), 0) as recovery_rate
from retried
group by name
order by failures desc, name
