-- doc: Results that answer calls: re-renderings left out, each with the number of the call that it answers.
-- grain: one row per result that is no re-rendering and not recovered
-- needs: calls, stored.tool_results, source_status
-- An id may be used again within a session: a result answers the last call of its id before it, or the
-- first one where it stands before any. Files in which that occurs are few, and known.
with results as not materialized (
    select
        r.source_key, s.source_id, s.session_id, r.call_id, r.line, r.seq, r."at", r.status, r.error_name,
        r.error_code, r.result_chars, r.exit_code, r.seq < s.inherited_cut as is_inherited,
        s.has_repeated_calls as may_repeat
    from stored.tool_results as r
    inner join source_status as s
        on r.source_key = s.source_key and r.batch between s.first_batch and s.last_batch
    where s.is_counted and not r.is_tail and not r.is_replacement
),

marks as (
    select source_key, call_id, line, seq, true as is_call, null as result
    from calls
    where may_repeat and not is_recovered
    union all
    select source_key, call_id, line, seq, false as is_call, results as result from results where may_repeat
),

numbered as (
    select
        *,
        greatest(1, count(*) filter (is_call) over (partition by source_key, call_id order by line, seq, is_call))
            as call_number
    from marks
)

select *, 1::bigint as call_number from results where not may_repeat
union all
select unnest(result), call_number from numbered where not is_call
