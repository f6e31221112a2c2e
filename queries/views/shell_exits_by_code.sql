-- doc: With which exit codes shell commands ended, other than zero.
-- grain: one row per tool name and exit code
-- needs: tool_calls
with told as (
    select
        name, exit_code, count(*) as commands, count(distinct source_id) as sessions,
        max(called_at) as last_called_at
    from tool_calls
    where not is_inherited and not is_recovered and exit_code <> 0
    group by name, exit_code
)

select *, commands / sum(commands) over (partition by name) as share
from told
order by commands desc, name, exit_code
