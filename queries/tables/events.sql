-- doc: Every event, packed rows expanded, inherited ones included.
-- grain: one row per event
-- needs: stored.events, source_status
with current_rows as not materialized (
    select e.*, s.source_id, s.session_id, s.inherited_cut
    from stored.events as e
    inner join source_status as s
        on e.source_key = s.source_key
        and e.batch between s.first_batch and s.last_batch
        and (not e.is_tail or e.batch = s.last_batch)
    where s.is_counted
),

packed as (
    select *, unnest(range(members)) as member
    from current_rows
    where members > 1 or packed_offsets_ms is not null
)

select
    source_id, line, seq, session_id, frame, type, "at", turn, step,
    seq < inherited_cut as is_inherited, is_recovered, data
from current_rows
where members = 1 and packed_offsets_ms is null
union all
select
    source_id, line, seq + member as seq, session_id, frame, type,
    "at" + to_milliseconds(packed_offsets_ms[member + 1]) as "at", turn, step,
    seq + member < inherited_cut as is_inherited, is_recovered,
    packed_prefix || packed_texts[member + 1] || '}}' as data
from packed
