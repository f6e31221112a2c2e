-- doc: Every file ever met, with what of it is counted and why not.
-- grain: one row per file
-- needs: source_status
select
    source_id, root, path, kind, encoding, generation, format_version, session_id, size_bytes, modified_at,
    decoded_bytes, frames, bad_frames, skippable_frames, good_frame_bytes, bad_frame_bytes, skippable_bytes,
    unframed_bytes, torn_tail_bytes, lines, recovered_lines, rejected_lines, events, status, message,
    missing_since, is_counted
from source_status
-- What a manifest states is in scenarios: it is no log.
where kind <> 'manifest'
