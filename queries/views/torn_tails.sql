-- doc: Files that end inside a frame or line: cut off by a crash, or still being written when they were read.
-- grain: one row per file with a torn tail; older generations and copies left out
-- needs: sources
select
    path, source_id, session_id, status, size_bytes, torn_tail_bytes,
    torn_tail_bytes / nullif(size_bytes, 0) as torn_share, recovered_lines, modified_at
from sources
where torn_tail_bytes > 0 and kind <> 'cassette' and (is_counted or status in ('skipped', 'failed'))
order by torn_tail_bytes desc, path
