-- doc: Groups of calls that cannot be told apart although they ended differently: replay would have to guess.
-- grain: one row per group
-- needs: ambiguous_groups
-- severity: warn
select
    'cassette' as subject_kind, source_id as subject_id, path, 'line ' || first_line as position,
    calls || ' calls of parent "' || parent_key || '" with the same context and request have ' || outcomes
        || ' different outcomes' as message,
    first_line as line, 21000000 as rank, 'ambiguous-group' as code, first_physical_line as physical_line
from ambiguous_groups
