-- doc: What was found while files were read, cassettes judged elsewhere: faults, warnings, remarks.
-- grain: one row per finding
-- needs: rejects, source_status, stored.events
with noted as (
    select
        source_id, path, kind,
        unnest(from_json(
            notes,
            '[{"severity":"VARCHAR","code":"VARCHAR","message":"VARCHAR","count":"BIGINT","line":"BIGINT"}]'
        )) as note
    from source_status
    where status not in ('superseded', 'duplicate') and notes <> '[]'
),

pairs as (
    select d.source_id, d.path, w.path as counted_path, d.source_key, w.source_key as counted_key
    from source_status as d
    inner join source_status as w on w.session_id = d.session_id and w.is_counted and w.kind = 'session'
    where d.status = 'duplicate' and (d.prefix_sha256 is null or d.prefix_sha256 is distinct from w.prefix_sha256)
),

copied as (
    select e.source_key, e.line, e.seq, e.type, e.at, e.data, e.packed_texts
    from stored.events as e
    inner join source_status as s
        on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch and not e.is_tail
    where s.source_key in (select source_key from pairs union all select counted_key from pairs)
),

differing as (
    select distinct p.source_id, p.path, p.counted_path
    from pairs as p
    inner join copied as d on d.source_key = p.source_key
    anti join copied as w
        on w.source_key = p.counted_key and w.line = d.line and w.seq = d.seq and w.type = d.type
        and w.at is not distinct from d.at and w.data is not distinct from d.data
        and w.packed_texts is not distinct from d.packed_texts
)

select
    source_id, 'fail' as severity, code, path,
    case when line is not null then 'line ' || line when byte_offset is not null then 'byte ' || byte_offset end
        as position,
    message || case
        when frame is not null and byte_offset is not null
            then ' (frame ' || frame || ', byte ' || byte_offset || ')'
        when frame is not null then ' (frame ' || frame || ')'
        else ''
    end as message
from rejects
union all
select
    source_id, note.severity, note.code, path,
    case when note.line is not null then 'line ' || note.line end as position,
    note.message || case when note.count > 1 then ' (' || note.count || ' times)' else '' end as message
from noted
-- Of a fixture that is how it is stored.
where not (kind = 'fixture' and note.code in ('no-seq', 'no-time'))
union all
select
    source_id,
    case state_code when 'empty-file' then 'info' when 'manifest-invalid' then 'warn' else 'fail' end as severity,
    state_code as code, path, null as position, message
from source_status
where state_code is not null and status in ('skipped', 'failed')
union all
select
    source_id, 'warn' as severity, 'copies-differ' as code, path, null as position,
    'another copy of this session counts, and this one is no beginning of it: ' || counted_path as message
from differing
