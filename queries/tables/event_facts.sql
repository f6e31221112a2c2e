-- doc: What events state besides text: turns, retries, approvals, compactions, requests and more.
-- grain: one row per event of a type that states such facts
-- needs: stored.event_facts, source_status
select
    s.source_id, r.line, r.seq, s.session_id, r.at, r.turn, r.step, r.type, r.is_replacement,
    r.subject_id, r.call_id, r.name, r.outcome, r.cause, r.code, r.http_status, r.ordinal, r.delay_ms,
    r.exit_code, r.tokens, r.first_seq, r.last_seq, r.provider, r.model, r.started_at, r.finished_at,
    r.tools_sha256, r.prompt_sha256,
    r.seq < s.inherited_cut as is_inherited, r.is_recovered
from stored.event_facts as r
inner join source_status as s
    on r.source_key = s.source_key
    and r.batch between s.first_batch and s.last_batch
    and (not r.is_tail or r.batch = s.last_batch)
where s.is_counted
