-- doc: Results of tool calls that are no re-renderings and not recovered.
-- grain: one row per such result
-- needs: stored.tool_results, source_status
select
    r.source_key, s.source_id, s.session_id, r.call_id, r.line, r.seq, r."at", r.status, r.error_name,
    r.error_code, r.result_chars, r.exit_code, r.seq < s.inherited_cut as is_inherited,
    s.has_repeated_calls as may_repeat
from stored.tool_results as r
inner join source_status as s
    on r.source_key = s.source_key and r.batch between s.first_batch and s.last_batch
where s.is_counted and not r.is_tail and not r.is_replacement
