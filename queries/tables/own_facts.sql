-- doc: What is stated by events of what sessions did themselves: of the files that count, neither inherited nor recovered.
-- grain: one row per event of a type that states facts
-- needs: stored.event_facts, source_status
select f.*, s.source_id, s.format_version
from stored.event_facts as f
inner join source_status as s on f.source_key = s.source_key and f.batch between s.first_batch and s.last_batch
where s.is_counted and not f.is_recovered and f.seq >= s.inherited_cut
