-- doc: Calls whose request is kept in another way than the header of their cassette says.
-- grain: one row per call
-- needs: interactions, cassettes
-- severity: fail
select
    'cassette' as subject_kind, i.source_id as subject_id, c.path, 'line ' || i.line as position,
    'line ' || i.line || '.request.storage must match header.requestStorage "' || c.request_storage || '"' as message,
    i.line, 15000000 as rank, 'storage-disagrees' as code, i.physical_line
from interactions as i
inner join cassettes as c using (source_id)
where i.request_storage <> c.request_storage
