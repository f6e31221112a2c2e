-- doc: Tool calls that nothing answered: the session was killed, is still running, or lost the answer.
-- grain: one row per own call without a result
-- needs: tool_calls, sources
select s.path, c.source_id, c.line, c.seq, c.session_id, c.turn, c.step, c.call_id, c.name, c.called_at
from tool_calls as c
inner join sources as s using (source_id)
where c.status = 'unanswered' and not c.is_inherited and not c.is_recovered
order by s.path, c.line, c.seq
