-- doc: How answered tool calls ended: one own result each, also where the call itself was inherited or is absent.
-- grain: one row per answered tool call
-- needs: call_results, tool_calls
with answers as (
    select
        source_id, session_id, call_id, call_number,
        arg_max(
            {line: line, seq: seq, "at": "at", status: status, error_name: error_name, error_code: error_code},
            (status <> 'interrupted', line, seq)
        ) as answer
    from call_results
    where not is_inherited
    group by all
)

select
    a.source_id, a.session_id, a.call_id, c.name, a.answer.line as line, a.answer.seq as seq, a.answer."at" as "at",
    a.answer.status as status, a.answer.error_name as error_name, a.answer.error_code as error_code
from answers as a
left join tool_calls as c
    on c.source_id = a.source_id and c.call_id = a.call_id and c.call_number = a.call_number
    and not c.is_recovered
