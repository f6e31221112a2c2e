-- doc: Results in files that may use an id again, each with the number of the call that it answers.
-- grain: one row per result that is no re-rendering and not recovered, of these files
-- needs: calls, answering_results
-- A result answers the last call of its id before it, or the first one where it stands before any.
with marks as (
    select source_key, call_id, line, seq, true as is_call, null as result
    from calls
    where may_repeat and not is_recovered
    union all
    select source_key, call_id, line, seq, false as is_call, results as result
    from answering_results as results
    where may_repeat
),

numbered as (
    select
        *,
        greatest(1, count(*) filter (is_call) over (partition by source_key, call_id order by line, seq, is_call))
            as call_number
    from marks
)

select unnest(result), call_number from numbered where not is_call
