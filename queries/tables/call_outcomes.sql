-- doc: Tool calls and the results that count for them, side by side, also where one of the two is absent.
-- grain: one row per tool call, and per answered call_id whose call is absent
-- needs: calls, answering_results, numbered_results
-- Of several results of a call the last that is no repair counts, else the last repair; the columns own_* are of
-- the one that counts among the session's own results. A repair is no answer: it came when the session was resumed,
-- however much later, so such a call has no duration_ms.
with answers as not materialized (
    select
        source_key, source_id, session_id, call_id, 1::bigint as call_number, line, seq, "at", status, error_name, error_code,
        result_chars, exit_code,
        case when not is_inherited then line end as own_line,
        case when not is_inherited then seq end as own_seq,
        case when not is_inherited then "at" end as own_at,
        case when not is_inherited then status end as own_status,
        case when not is_inherited then error_name end as own_error_name,
        case when not is_inherited then error_code end as own_error_code
    from answering_results
    where not may_repeat
    union all
    select
        source_key, any_value(source_id), any_value(session_id), call_id, call_number,
        unnest(
            arg_max(
                {
                    line: line, seq: seq, "at": "at", status: status, error_name: error_name, error_code: error_code,
                    result_chars: result_chars, exit_code: exit_code
                },
                (status <> 'interrupted', line, seq)
            )
        ),
        unnest(
            arg_max(
                {
                    own_line: line, own_seq: seq, own_at: "at", own_status: status,
                    own_error_name: error_name, own_error_code: error_code
                },
                (status <> 'interrupted', line, seq)
            ) filter (not is_inherited)
        )
    from numbered_results
    group by source_key, call_id, call_number
)

select
    coalesce(c.source_key, a.source_key) as source_key,
    coalesce(c.source_id, a.source_id) as source_id,
    coalesce(c.session_id, a.session_id) as session_id,
    coalesce(c.call_id, a.call_id) as call_id,
    coalesce(c.call_number, a.call_number) as call_number,
    c.source_key is not null as is_called,
    c.line, c.seq, c."at" as called_at, c.turn, c.step, c.name, c.arguments, c.arguments_sha256, c.model,
    c.is_inherited, c.is_recovered,
    a.line as result_line, a.seq as result_seq, a."at" as result_at, a.status, a.error_name, a.error_code,
    case when a.status <> 'interrupted' then elapsed_ms(c."at", a."at") end as duration_ms,
    a.result_chars, a.exit_code, a.own_line, a.own_seq, a.own_at, a.own_status, a.own_error_name, a.own_error_code
from calls as c
full join answers as a
    on a.source_key = c.source_key and a.call_id = c.call_id
    and a.call_number = case when not c.is_recovered then c.call_number end
