-- doc: Tool results of which the log holds no call: it was lost, or never written.
-- grain: one row per own result without a call
-- needs: call_results, calls, sources
select s.path, r.source_id, r.line, r.seq, r.session_id, r.call_id, r."at", r.status, r.error_code
from call_results as r
inner join sources as s on s.source_id = r.source_id
where not r.is_inherited and not exists (
    select 1 from calls as c where c.source_key = r.source_key and c.call_id = r.call_id and not c.is_recovered
)
order by s.path, r.line, r.seq
