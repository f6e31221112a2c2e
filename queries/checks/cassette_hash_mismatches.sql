-- doc: Records of cassettes whose stated digest is not the digest of what they say.
-- grain: one row per record
-- needs: interactions, cassettes
-- severity: fail
select
    'cassette' as subject_kind, source_id as subject_id, path, 'line 1' as position,
    'header hash mismatch' as message, 1 as line, 18000000 as rank, 'hash-mismatch' as code, physical_line
from cassettes
where stated_sha256 <> computed_sha256
union all
select
    'cassette' as subject_kind, i.source_id as subject_id, c.path, 'line ' || i.line as position,
    'line ' || i.line || ' hash mismatch' as message, i.line, 14000000 as rank, 'hash-mismatch' as code,
    i.physical_line
from interactions as i
inner join cassettes as c using (source_id)
where i.stated_sha256 <> i.computed_sha256
