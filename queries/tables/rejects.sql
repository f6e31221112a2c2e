-- doc: What could not be read: lines, frames, tails, with place and reason.
-- grain: one row per thing that could not be read
-- needs: stored.rejects, source_status
select s.source_id, s.path, r.line, r.frame, r.byte_offset, r.code, r.message, r.is_recovered
from stored.rejects as r
inner join source_status as s
    on r.source_key = s.source_key
    and r.batch between s.first_batch and s.last_batch
    and (not r.is_tail or r.batch = s.last_batch)
where s.status not in ('superseded', 'duplicate')
