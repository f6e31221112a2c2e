-- doc: Requests to models that came to nothing, why, and what they used.
-- grain: one row per attempt thrown away
-- needs: event_facts, billed_usage
-- Of formats 0 and 1 an attempt is known where its stream ended in an error; one that was only cut off left no end.
-- Its usage is then the sample that came before that end and after the attempt before. outcome is null where the stream
-- ended without a word. total_tokens is null where no usage is on record, which does not mean that none was billed.
with failed as (
    select
        *,
        lag(line, 1, 0) over (partition by source_id, turn, step order by line, seq) as line_before
    from event_facts
    where type in ('assistant/attempt', 'assistant/chunk') and not is_inherited and not is_recovered
),

billed as (select * from billed_usage where kind = 'attempt'),

paired as (
    select f.*, b.line > f.line_before as is_its_own, b.provider as billed_provider, b.model as billed_model, b.billed_tokens
    from failed as f
    asof left join billed as b
        on b.source_id = f.source_id and b.turn = f.turn and b.step = f.step and b.line <= f.line
)

select
    session_id, source_id, line, seq, "at", turn, step, outcome, code, http_status, started_at,
    elapsed_ms(started_at, "at") as duration_ms,
    coalesce(provider, case when is_its_own then billed_provider end) as provider,
    coalesce(model, case when is_its_own then billed_model end) as model,
    case when is_its_own then billed_tokens end as total_tokens
from paired
