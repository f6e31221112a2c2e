-- doc: Files with their state, the batches whose rows are current, and which of several copies counts.
-- grain: one row per file
-- needs: stored.sources
-- A session counts once. Of several files that hold it the one on disk comes before a remembered one, the
-- higher generation before the lower, the longer copy before the shorter, then the root first given.
with elected as (
    select
        *,
        row_number() over copies as place,
        first_value(path) over copies as counted_path,
        first_value(format_version) over copies as counted_version
    from stored.sources
    window copies as (
        partition by
            case
                when kind = 'session' and session_id is not null and state in ('ok', 'partial', 'missing')
                    then 'session ' || session_id
                else 'file ' || source_id
            end
        order by state = 'missing', format_version desc nulls last, events desc nulls last, root_rank, path
    )
)

select
    * exclude (place, counted_path, counted_version, state, message, code),
    code as state_code,
    case
        when state not in ('ok', 'partial') or place = 1 then state
        when format_version < counted_version then 'superseded'
        else 'duplicate'
    end as status,
    case
        when state in ('ok', 'partial') and place > 1 then 'the session is counted from ' || counted_path
        else message
    end as message,
    -- Of a file that was never read nothing can be remembered.
    place = 1 and (
        state in ('ok', 'partial')
        or (state = 'missing' and (session_id is not null or kind = 'cassette'))
    ) as is_counted
from elected
