-- doc: Tool calls that belong to no turn and step, in files that could be read whole.
-- grain: one row per call
-- needs: stored.tool_calls, source_status
-- severity: fail
select
    'call' as subject_kind, c.call_id as subject_id, s.path, 'line ' || c.line as position,
    'a call of ' || coalesce(c.name, 'an unnamed tool') || ' names no '
    || case when c.turn is null then 'turn' else 'step' end || ', and none was open: it counts in no turn' as message
from stored.tool_calls as c
inner join source_status as s on c.source_key = s.source_key and c.batch between s.first_batch and s.last_batch
where s.is_counted and (c.turn is null or c.step is null) and not c.is_tail
    and s.bad_frames + s.rejected_lines + s.unframed_bytes = 0
