-- doc: What each cassette holds, and whether it is sound.
-- grain: one row per cassette file that could be opened
-- needs: cassette_counts, cassette_verdicts
-- code and message are the first fault, which is what the original tool reports.
select c.*, v.is_sound, v.faults, v.code, v.message
from cassette_counts as c
inner join cassette_verdicts as v using (source_id)
order by c.path
