-- doc: Tool calls with the result that counts for each.
-- grain: one row per tool call
-- needs: stored.tool_calls, call_results, source_status
-- Of several results of a call the last that is no repair counts, else the last repair.
with calls as (
    select
        s.source_id, s.session_id, s.inherited_cut, c.*,
        row_number() over (partition by s.source_id, c.call_id, c.is_recovered order by c.line, c.seq) as call_number
    from stored.tool_calls as c
    inner join source_status as s
        on c.source_key = s.source_key
        and c.batch between s.first_batch and s.last_batch
        and (not c.is_tail or c.batch = s.last_batch)
    where s.is_counted
),

answers as (
    select
        source_id, call_id, call_number,
        arg_max(
            {
                line: line, seq: seq, "at": "at", status: status,
                error_name: error_name, error_code: error_code, result_chars: result_chars
            },
            (status <> 'interrupted', line, seq)
        ) as answer
    from call_results
    group by source_id, call_id, call_number
)

select
    c.source_id, c.line, c.seq, c.session_id, c.call_id, c.at as called_at, c.turn, c.step,
    c.name, c.arguments, c.arguments_sha256,
    a.answer.line as result_line, a.answer.seq as result_seq, a.answer."at" as result_at,
    date_diff('millisecond', c.at, a.answer."at") as duration_ms,
    coalesce(a.answer.status, 'unanswered') as status,
    a.answer.error_name as error_name, a.answer.error_code as error_code, a.answer.result_chars as result_chars,
    c.call_number, c.seq < c.inherited_cut as is_inherited, c.is_recovered
from calls as c
left join answers as a
    on a.source_id = c.source_id and a.call_id = c.call_id and a.call_number = c.call_number
    and not c.is_recovered
