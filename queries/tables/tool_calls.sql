-- doc: Tool calls with the result that counts for each.
-- grain: one row per tool call
-- needs: call_outcomes
select
    source_id, line, seq, session_id, call_id, called_at, turn, step, name, arguments, arguments_sha256, model,
    result_line, result_seq, result_at, duration_ms,
    coalesce(status, 'unanswered') as status, error_name, error_code, result_chars, exit_code,
    call_number, is_inherited, is_recovered
from call_outcomes
where is_called
