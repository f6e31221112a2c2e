-- doc: Results that answer calls: re-renderings left out, each with the number of the call that it answers.
-- grain: one row per result that is no re-rendering and not recovered
-- needs: calls, stored.tool_results, source_status
-- An id may be used again within a session: a result answers the last call of its id before it, or the
-- first one where it stands before any.
with marks as (
    select source_key, call_id, line, seq, true as is_call, null as result from calls where not is_recovered
    union all
    select
        r.source_key, r.call_id, r.line, r.seq, false as is_call,
        {
            source_id: s.source_id, session_id: s.session_id, "at": r.at, status: r.status,
            error_name: r.error_name, error_code: r.error_code, result_chars: r.result_chars,
            exit_code: r.exit_code,
            is_inherited: r.seq < s.inherited_cut
        } as result
    from stored.tool_results as r
    inner join source_status as s
        on r.source_key = s.source_key and r.batch between s.first_batch and s.last_batch
    where s.is_counted and not r.is_tail and not r.is_replacement
),

numbered as (
    select
        *,
        greatest(1, count(*) filter (is_call) over (partition by source_key, call_id order by line, seq, is_call))
            as call_number
    from marks
)

select
    source_key, result.source_id as source_id, result.session_id as session_id, call_id, call_number, line, seq,
    result."at" as "at", result.status as status, result.error_name as error_name,
    result.error_code as error_code, result.result_chars as result_chars,
    result.exit_code as exit_code, result.is_inherited as is_inherited
from numbered
where not is_call
