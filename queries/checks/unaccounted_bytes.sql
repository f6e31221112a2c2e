-- doc: Files whose bytes do not add up to good, bad and skippable frames, bytes of no frame and a torn tail.
-- grain: one row per file
-- needs: sources
-- severity: fail
-- Of files that were not read (older generations, newer formats) nothing is known that could be added up.
with summed as (
    select
        source_id, path, size_bytes,
        good_frame_bytes + bad_frame_bytes + skippable_bytes + unframed_bytes + torn_tail_bytes as told_bytes
    from sources
)

select
    'file' as subject_kind, source_id as subject_id, path, null::varchar as position,
    told_bytes || ' of ' || size_bytes || ' bytes are accounted for: what was read is not what is in the file; '
    || 'scan with --full, which reads it again' as message
from summed
where size_bytes <> told_bytes
