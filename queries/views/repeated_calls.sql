-- doc: Calls that a session made more than once with the very same arguments.
-- grain: one row per session, tool name and arguments; arguments that are no JSON are never the same
-- needs: tool_calls
select
    session_id, source_id, name, arguments_sha256,
    count(*) as calls,
    count(*) filter (status = 'error') as errors,
    count(distinct turn) as turns,
    min(line) as first_line,
    max(line) as last_line,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at
from tool_calls
where not is_inherited and not is_recovered and arguments_sha256 is not null
group by session_id, source_id, name, arguments_sha256
having count(*) > 1
order by calls desc, session_id, first_line
