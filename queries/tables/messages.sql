-- doc: Messages of users, assistants, the system and developers; tool results are in tool_results.
-- grain: one row per message
-- needs: stored.messages, source_status
select
    s.source_id, r.line, r.seq, s.session_id,
    r.at, r.turn, r.step, r.role, r.message_id, r.source_kind, r.is_human, r.is_replacement, r.text_chars,
    r.reasoning_chars, r.tool_call_count, r.image_count, r.is_interrupted, r.first_chunk_at, r.model,
    r.seq < s.inherited_cut as is_inherited, r.is_recovered
from stored.messages as r
inner join source_status as s
    on r.source_key = s.source_key
    and r.batch between s.first_batch and s.last_batch
    and (not r.is_tail or r.batch = s.last_batch)
where s.is_counted
