-- doc: Tool calls with the result that counts for each.
-- grain: one row per tool call
-- needs: calls, call_results
-- Of several results of a call the last that is no repair counts, else the last repair.
with answers as (
    select
        source_key, call_id, call_number,
        arg_max(
            {
                line: line, seq: seq, "at": "at", status: status,
                error_name: error_name, error_code: error_code, result_chars: result_chars,
                exit_code: exit_code
            },
            (status <> 'interrupted', line, seq)
        ) as answer
    from call_results
    group by source_key, call_id, call_number
)

select
    c.source_id, c.line, c.seq, c.session_id, c.call_id, c.at as called_at, c.turn, c.step,
    c.name, c.arguments, c.arguments_sha256,
    a.answer.line as result_line, a.answer.seq as result_seq, a.answer."at" as result_at,
    date_diff('millisecond', c.at, a.answer."at") as duration_ms,
    coalesce(a.answer.status, 'unanswered') as status,
    a.answer.error_name as error_name, a.answer.error_code as error_code, a.answer.result_chars as result_chars,
    a.answer.exit_code as exit_code,
    c.call_number, c.is_inherited, c.is_recovered
from calls as c
left join answers as a
    on a.source_key = c.source_key and a.call_id = c.call_id and a.call_number = c.call_number
    and not c.is_recovered
