-- doc: Stored events of what sessions did themselves: of the files that count, neither inherited nor recovered.
-- grain: one row per stored event; packed rows are one each
-- needs: stored.events, source_status
select e.source_key, s.source_id, s.format_version, e.line, e.seq, e.type, e."at", e.turn, e.step
from stored.events as e
inner join source_status as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
where s.is_counted and not e.is_recovered and e.seq >= s.inherited_cut
