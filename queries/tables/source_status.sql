-- doc: Files with their state, the batches whose rows are current, and which of several copies counts.
-- grain: one row per file
-- needs: stored.sources
-- A session counts once. Of several files that hold it the one on disk comes before a remembered one, the
-- higher generation before the lower, the longer copy before the shorter, then the root first given.
-- Copies are few: only they need to be sorted. The rows are kept in catalogs: titles, which are content, stay out.
with several as (
    select session_id
    from stored.sources
    where kind = 'session' and session_id is not null and state in ('ok', 'partial', 'missing')
    group by session_id
    having count(*) > 1
),

elected as (
    select
        source_key,
        row_number() over copies as place,
        first_value(path) over copies as counted_path,
        first_value(format_version) over copies as counted_version
    from stored.sources
    semi join several using (session_id)
    where kind = 'session' and state in ('ok', 'partial', 'missing')
    window copies as (
        partition by session_id
        order by state = 'missing', format_version desc nulls last, events desc nulls last, root_rank, path
    )
)

select
    s.* exclude (state, message, code, resume, title),
    s.code as state_code,
    case
        when s.state not in ('ok', 'partial') or coalesce(e.place, 1) = 1 then s.state
        when s.format_version < e.counted_version then 'superseded'
        else 'duplicate'
    end as status,
    case
        when s.state in ('ok', 'partial') and e.place > 1 then 'the session is counted from ' || e.counted_path
        else s.message
    end as message,
    -- Of a file that was never read nothing can be remembered.
    coalesce(e.place, 1) = 1 and (
        s.state in ('ok', 'partial')
        or (s.state = 'missing' and (s.session_id is not null or s.kind = 'cassette'))
    ) as is_counted
from stored.sources as s
left join elected as e on e.source_key = s.source_key
