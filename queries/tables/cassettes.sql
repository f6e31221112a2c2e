-- doc: Cassettes: recorded calls of sub-agents, one hash-chained file each.
-- grain: one row per cassette file; all null but the file where its first line is no header
-- needs: stored.cassettes, source_status
select
    s.source_id, s.path, c.cassette_id, c.created_at, c.target, c.provider_cassette, c.provider_upstream,
    c.capabilities, c.inherits_parent_context, c.request_storage, c.redact_secrets, c.redaction_patterns,
    c.stated_sha256, c.computed_sha256, c.physical_line
from stored.cassettes as c
inner join source_status as s on c.source_key = s.source_key and c.batch between s.first_batch and s.last_batch
