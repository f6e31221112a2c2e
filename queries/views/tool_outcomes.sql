-- doc: How answered tool calls ended: one own result each, also where the call itself was inherited or is absent.
-- grain: one row per answered tool call
-- needs: call_results
select
    source_key, call_id, call_number,
    any_value(source_id) as source_id,
    any_value(session_id) as session_id,
    arg_max(line, (status <> 'interrupted', line, seq)) as line,
    arg_max(seq, (status <> 'interrupted', line, seq)) as seq,
    arg_max(status, (status <> 'interrupted', line, seq)) as status,
    arg_max_null(error_name, (status <> 'interrupted', line, seq)) as error_name,
    arg_max_null(error_code, (status <> 'interrupted', line, seq)) as error_code
from call_results
where not is_inherited
group by source_key, call_id, call_number
