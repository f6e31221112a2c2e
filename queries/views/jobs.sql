-- doc: Background jobs: what started them, how long they ran, how they ended.
-- grain: one row per job
-- needs: event_facts
-- kind, outcome and cause are the producer's words; outcome is null where a job has no end on record.
select
    session_id, source_id, subject_id as job_id,
    min(line) as line,
    any_value(name) as kind,
    any_value(call_id) as call_id,
    any_value(turn) as turn,
    min(started_at) as started_at,
    max(finished_at) as finished_at,
    elapsed_ms(min(started_at), max(finished_at)) as duration_ms,
    arg_max(outcome, line) filter (type = 'job/settled') as outcome,
    arg_max(cause, line) filter (type = 'job/settled') as cause,
    arg_max(exit_code, line) filter (type = 'job/settled') as exit_code
from event_facts
where type in ('job/registered', 'job/settled') and not is_inherited and not is_recovered
group by session_id, source_id, subject_id
