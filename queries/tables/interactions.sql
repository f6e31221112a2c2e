-- doc: Recorded calls of sub-agents: metadata and fingerprints, never what was asked or answered.
-- grain: one row per interaction record, also of cassettes that fail verification
-- needs: stored.interactions, source_status
select
    s.source_id, i.line, i.sequence, i.call_key, i.parent_key, i.parent_context_fingerprint, i.request_fingerprint,
    i.occurrence, i.label, i.prompt_blocks, i.prompt_bytes, i.request_storage, i.started_at, i.start_latency_ms,
    i.duration_ms, i.published, i.is_local, i.outcome_kind, i.stop_reason, i.outcome_fingerprint, i.redactions,
    i.error_name, i.error_code, i.previous_sha256, i.stated_sha256, i.computed_sha256, i.physical_line, i.byte_offset
from stored.interactions as i
inner join source_status as s on i.source_key = s.source_key and i.batch between s.first_batch and s.last_batch
