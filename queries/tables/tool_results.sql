-- doc: Results of tool calls, re-renderings and repairs included.
-- grain: one row per tool result
-- needs: stored.tool_results, source_status
select
    s.source_id, r.line, r.seq, s.session_id,
    r.call_id, r.at, r.status, r.error_name, r.error_code, r.result_chars, r.exit_code,
    r.is_replacement,
    r.seq < s.inherited_cut as is_inherited, r.is_recovered
from stored.tool_results as r
inner join source_status as s
    on r.source_key = s.source_key
    and r.batch between s.first_batch and s.last_batch
    and (not r.is_tail or r.batch = s.last_batch)
where s.is_counted
