-- doc: How the prompt grew from reply to reply, and how much of the context window it takes.
-- grain: one row per own reply with usage
-- needs: usage, event_facts
-- prompt_tokens is uncached input, cache reads and cache writes together. Growth is against the reply before in the
-- file, an inherited one too; of it output_before was said by the model itself (its reasoning need not be sent again)
-- and added_tokens is the rest: tool results, messages, notices. A compaction shows as a negative growth.
with calls as (
    select
        *,
        input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
    from usage
    where kind = 'message' and not is_replaced and not is_recovered
),

following as (
    select
        session_id, source_id, line, seq, "at", turn, step, model, is_inherited, prompt_tokens, output_tokens,
        lag(prompt_tokens) over before as prompt_before,
        lag(output_tokens) over before as output_before
    from calls
    window before as (partition by source_id order by line, seq)
),

windows as (
    select source_id, line, tokens
    from event_facts
    where type = 'request/context' and tokens is not null and not is_recovered
)

select
    f.session_id, f.source_id, f.line, f.seq, f."at", f.turn, f.step, f.model,
    f.prompt_tokens, f.output_tokens, f.prompt_before, f.output_before,
    f.prompt_tokens - f.prompt_before as growth_tokens,
    f.prompt_tokens - f.prompt_before - f.output_before as added_tokens,
    w.tokens as context_window,
    f.prompt_tokens / nullif(w.tokens, 0) as window_share
from following as f
asof left join windows as w on w.source_id = f.source_id and w.line <= f.line
where not f.is_inherited
