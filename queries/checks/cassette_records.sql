-- doc: Records of cassettes that are no sound record by themselves: syntax, members, fields, content blocks.
-- grain: one row per failed check
-- needs: cassette_faults
-- severity: fail
-- Publication, locality and hashes have checks of their own.
select
    'cassette' as subject_kind, source_id as subject_id, path,
    case when line > 0 then 'line ' || line end as position, message, line, rank, code, physical_line
from cassette_faults
where code not in ('bad-publication', 'bad-locality', 'hash-mismatch')
