-- doc: Checks that records of cassettes fail by themselves; faults across lines are in cassette_findings.
-- grain: one row per failed check
-- needs: stored.cassette_faults, source_status
select s.source_id, s.path, f.line, f.rank, f.code, f.message, f.physical_line
from stored.cassette_faults as f
inner join source_status as s on f.source_key = s.source_key and f.batch between s.first_batch and s.last_batch
