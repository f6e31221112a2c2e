-- doc: Sequence numbers left out or used twice, in files in which everything could be read.
-- grain: one row per gap or run of repeated numbers
-- needs: sequence_gaps
-- severity: warn
-- DSH numbers events without gaps: something has cut or doubled lines of the file. All rows are kept and counted.
select
    'file' as subject_kind, source_id as subject_id, path, 'line ' || line as position,
    case kind
        when 'missing'
            then numbers || ' events are missing before this line (seq ' || first_seq || ' to ' || last_seq || ')'
        else numbers || ' events from this line on repeat numbers that were used before (seq ' || first_seq || ' to '
            || last_seq || ')'
    end as message
from sequence_gaps
where not is_explained
