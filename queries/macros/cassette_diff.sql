-- doc: What differs between two cassettes, each named by its path or its source_id.
-- grain: one row per difference; the two are equivalent when all rows are of change timing
-- needs: cassettes, cassette_changes
-- params: a, b
-- Both should be sound: of others whatever can be read is compared.
from cassette_changes((
    select list({expected: e.source_id, actual: o.source_id})
    from cassettes as e, cassettes as o
    where a in (e.path, e.source_id) and b in (o.path, o.source_id)
))
