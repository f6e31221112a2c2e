-- doc: Compactions: what they replaced, what they cost, and how large the prompt was before and after.
-- grain: one row per compaction or pruning
-- needs: event_facts, billed_usage
-- kind is compaction or prune; outcome completed, error, or null where it has no end. tokens_before is the prompt of the
-- last model call before it; tokens_after that of the first one after it, which holds what was said since.
-- replaced_tokens is the harness's own count. turn is null between turns.
with facts as (
    select
        *,
        -- Early formats give no id; compactions do not overlap.
        count(*) filter (type in ('compaction/start', 'compact/start'))
            over (partition by source_id order by line, seq) as number
    from event_facts
    where type in (
            'compaction/start', 'compaction/summary', 'compaction/end', 'compact/start', 'compact/summary', 'compact/end'
        )
        and not is_inherited and not is_recovered
),

runs as (
    select
        any_value(session_id) as session_id, source_id, 'compaction' as kind,
        any_value(subject_id) as compaction_id,
        min(line) as line,
        max(line) as last_line,
        any_value(turn) as turn,
        min("at") filter (ends_with(type, '/start')) as started_at,
        max("at") filter (ends_with(type, '/end')) as ended_at,
        case
            when count(*) filter (ends_with(type, '/end') and outcome = 'error') > 0 then 'error'
            when count(*) filter (ends_with(type, '/end')) > 0 then 'completed'
        end as outcome,
        max(tokens) as replaced_tokens,
        any_value(provider) as provider,
        any_value(model) as model,
        max(line) filter (ends_with(type, '/summary')) as summary_line
    from facts
    group by source_id, coalesce(subject_id, number::varchar)
    union all by name
    select
        session_id, source_id, 'prune' as kind, line, line as last_line, turn, "at" as started_at, "at" as ended_at,
        'completed' as outcome, tokens as replaced_tokens
    from event_facts
    where type in ('compaction/prune', 'compact/prune') and not is_inherited and not is_recovered
),

calls as (
    select
        source_id, line, kind, billed_tokens,
        input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
    from billed_usage
    semi join runs using (source_id)
),

replies as (select * from calls where kind = 'message' and prompt_tokens is not null)

select
    r.session_id, r.source_id, r.line, r.kind, r.compaction_id, r.turn, r.started_at, r.ended_at,
    elapsed_ms(r.started_at, r.ended_at) as duration_ms,
    r.outcome, r.provider, r.model, r.replaced_tokens,
    b.prompt_tokens as tokens_before,
    a.prompt_tokens as tokens_after,
    c.billed_tokens as total_tokens
from runs as r
asof left join replies as b on b.source_id = r.source_id and b.line < r.line
asof left join replies as a on a.source_id = r.source_id and a.line > r.last_line
left join calls as c on c.source_id = r.source_id and c.line = r.summary_line and c.kind = 'compaction'
