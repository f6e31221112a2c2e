-- doc: What the original tool says of each cassette: sound, or the first thing that is wrong with it.
-- grain: one row per cassette file that could be opened
-- needs: cassettes, cassette_findings
with first_faults as (
    select
        source_id,
        count(*) as faults,
        arg_min({code: code, message: message, line: line, physical_line: physical_line}, (line, rank)) as fault
    from cassette_findings
    where severity = 'fail'
    group by source_id
)

select
    c.source_id, c.path, f.fault is null as is_sound, coalesce(f.faults, 0) as faults, f.fault.code as code,
    f.fault.message as message, f.fault.line as line, f.fault.physical_line as physical_line
from cassettes as c
left join first_faults as f using (source_id)
order by c.path
