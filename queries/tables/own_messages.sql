-- doc: Messages of what sessions did themselves: of the files that count, neither inherited nor recovered.
-- grain: one row per message
-- needs: stored.messages, source_status
select m.*, s.source_id, s.format_version
from stored.messages as m
inner join source_status as s on m.source_key = s.source_key and m.batch between s.first_batch and s.last_batch
where s.is_counted and not m.is_recovered and m.seq >= s.inherited_cut
