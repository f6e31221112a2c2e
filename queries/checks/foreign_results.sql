-- doc: Calls that are given a result which is not theirs: of another call, a re-rendering, or not there at all.
-- grain: one row per call
-- needs: tool_calls, tool_results, sources
-- severity: fail
select
    'call' as subject_kind, c.call_id as subject_id, s.path, 'line ' || c.line as position,
    'the call is given the result at line ' || c.result_line || ', which '
    || case
        when r.line is null then 'is no result'
        when r.call_id is distinct from c.call_id then 'answers another call'
        when r.is_replacement then 'is a re-rendering'
        else 'has another status or length'
    end as message
from tool_calls as c
left join tool_results as r
    on r.source_id = c.source_id and r.line = c.result_line and r.seq = c.result_seq and not r.is_recovered
left join sources as s on s.source_id = c.source_id
where c.result_line is not null and (
    r.call_id is distinct from c.call_id or r.is_replacement
    or r.status is distinct from c.status or r.result_chars is distinct from c.result_chars
)
