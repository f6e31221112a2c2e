-- doc: Calls without results, those first whose session went on longest after them.
-- grain: one row per own call without a result
-- needs: calls_without_results, sessions
-- age_ms is from the call to the last event of its session: not to now, since an archive does not say whether its
-- session still runs.
select
    c.*,
    s.last_event_at,
    elapsed_ms(c.called_at, s.last_event_at) as age_ms
from calls_without_results as c
inner join sessions as s using (source_id)
order by age_ms desc nulls last, c.path, c.line, c.seq
