-- doc: Steps with the time that the model and then the tools took, and what it took to get a reply.
-- grain: one row per step of a session's own; step is null for replies outside of steps
-- needs: step_times, source_status
-- model_ms is from the step's start to its reply, failed attempts and the waits between them included; tool_ms from
-- the reply to the step's end where the reply asked for tools, waits for approval included: calls that run at the same
-- time count once. first_token_ms is from the request that was answered to the first part of its stream. A step whose
-- beginning was inherited has no line and no started_at; one that was cut off has no ended_at, and one that was closed
-- when the session was resumed after a kill neither duration_ms nor tool_ms.
select
    s.session_id, s.source_id, t.turn, t.step, t.line, t.started_at, t.first_chunk_at, t.replied_at, t.ended_at,
    t.duration_ms,
    elapsed_ms(coalesce(t.retried_at, t.started_at), t.first_chunk_at) as first_token_ms,
    elapsed_ms(t.started_at, t.replied_at) as model_ms,
    t.tool_ms,
    t.replies, t.requested_calls, t.retries, t.attempts, t.is_interrupted
from step_times as t
inner join source_status as s using (source_key)
