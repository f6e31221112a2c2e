-- doc: How turns end: completed, aborted by whom, failed with which code, cut off, or not at all.
-- grain: one row per outcome, cause and code; outcome is null for turns without an end: still running, or killed
-- needs: turns
select
    outcome, cause, code, http_status,
    count(*) as turns,
    count(*) / sum(count(*)) over () as share,
    sum(steps)::bigint as steps,
    sum(retries)::bigint as retries,
    sum(attempts)::bigint as attempts,
    quantile_cont(duration_ms, 0.5) as p50_duration_ms,
    quantile_cont(duration_ms, 0.9) as p90_duration_ms
from turns
where starts + ends > 0
group by outcome, cause, code, http_status
order by turns desc, outcome, cause, code, http_status
