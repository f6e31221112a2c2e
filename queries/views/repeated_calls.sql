-- doc: Calls that a session made more than once with the very same arguments.
-- grain: one row per session, tool name and arguments; arguments that are no JSON are never the same
-- needs: calls, call_outcomes
-- Digests are long and repetitions few: which files and digests may have some is found by short numbers first.
with repeating as (
    select source_key, hash(name, arguments_sha256) as mark
    from calls
    where not is_inherited and not is_recovered and arguments_sha256 is not null
    group by source_key, mark
    having count(*) > 1
)

select
    session_id, source_id, name, arguments_sha256,
    count(*) as calls,
    count(*) filter (status = 'error') as errors,
    count(distinct turn) as turns,
    min(line) as first_line,
    max(line) as last_line,
    min(called_at) as first_called_at,
    max(called_at) as last_called_at
from call_outcomes
where is_called and not is_inherited and not is_recovered and arguments_sha256 is not null
    and (source_key, hash(name, arguments_sha256)) in (from repeating)
group by session_id, source_id, name, arguments_sha256
having count(*) > 1
order by calls desc, session_id, first_line
