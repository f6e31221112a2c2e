-- doc: What could not be read, by the kind of fault.
-- grain: one row per code
-- needs: rejects
-- is_recovered rows are of torn last frames, which the next scan may find whole.
select
    code,
    count(*) as rejects,
    count(distinct source_id) as files,
    count(*) filter (is_recovered) as recovered,
    any_value(message order by path, line, byte_offset) as example
from rejects
group by code
order by rejects desc, code
