-- doc: Approvals that tools asked for, how they were decided, and how long that took.
-- grain: one row per approval asked or decided
-- needs: event_facts
-- outcome is null where nothing is decided yet; a decision whose question was inherited has no asked_at.
select
    session_id, source_id, subject_id as approval_id,
    min(line) as line,
    any_value(turn) as turn,
    any_value(step) as step,
    any_value(name) as tool,
    any_value(call_id) as call_id,
    min("at") filter (type = 'approval/asked') as asked_at,
    max("at") filter (type = 'approval/decided') as decided_at,
    elapsed_ms(
        min("at") filter (type = 'approval/asked'),
        max("at") filter (type = 'approval/decided')
    ) as wait_ms,
    arg_max(outcome, line) filter (type = 'approval/decided') as outcome
from event_facts
where type in ('approval/asked', 'approval/decided') and not is_inherited and not is_recovered
group by session_id, source_id, subject_id
