-- doc: Session files of fixture scenarios, older generations included.
-- grain: one row per session file beside a manifest
-- needs: source_status
select
    source_id,
    regexp_extract(path, '([^/]*/[^/]*)/[^/]*$', 1) as scenario_key,
    regexp_replace(path, '/[^/]*$', '') as folder,
    coalesce(try_cast(regexp_extract(path, '/session\.([1-9][0-9]*)[^/]*$', 1) as bigint), 0) as ordinal,
    generation,
    path,
    status <> 'superseded' as is_selected,
    status,
    session_id
from source_status
where kind = 'fixture'
