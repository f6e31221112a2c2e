-- doc: How well the files could be read: files and bytes by kind and status.
-- grain: one row per kind of file and status
-- needs: sources
select
    kind, status,
    count(*) as files,
    try_cast(sum(size_bytes) as bigint) as size_bytes,
    try_cast(sum(decoded_bytes) as bigint) as decoded_bytes,
    try_cast(sum(bad_frame_bytes + unframed_bytes + torn_tail_bytes) as bigint) as unread_bytes,
    count(*) filter (torn_tail_bytes > 0) as torn_tails,
    try_cast(sum(lines) as bigint) as lines,
    try_cast(sum(rejected_lines) as bigint) as rejected_lines,
    try_cast(sum(events) as bigint) as events
from sources
group by kind, status
order by kind, files desc, status
