-- doc: Tool calls that belong to no turn and step, in files that could be read whole.
-- grain: one row per call
-- needs: tool_calls, sources
-- severity: fail
select
    'call' as subject_kind, c.call_id as subject_id, s.path, 'line ' || c.line as position,
    'a call of ' || coalesce(c.name, 'an unnamed tool') || ' names no '
    || case when c.turn is null then 'turn' else 'step' end || ', and none was open: it counts in no turn' as message
from tool_calls as c
inner join sources as s using (source_id)
where (c.turn is null or c.step is null) and not c.is_recovered
    and s.bad_frames + s.rejected_lines + s.unframed_bytes = 0
