-- doc: Why tools failed: each tool's failures by the code and name that the records give them.
-- grain: one row per tool name, error code and error name; code and name are null where the record gives none
-- needs: named_outcomes
with failed as (
    select name, error_code, error_name, count(*) as errors, count(distinct source_id) as sessions
    from named_outcomes
    where status = 'error'
    group by name, error_code, error_name
)

select *, errors / sum(errors) over (partition by name) as share
from failed
order by errors desc, name, error_code, error_name
