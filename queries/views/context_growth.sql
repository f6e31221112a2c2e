-- doc: How the prompt grew from reply to reply, and how much of the context window it takes.
-- grain: one row per own reply with usage
-- needs: usage, event_facts
-- prompt_tokens is uncached input, cache reads and cache writes together. Growth is against the reply before in the
-- file, an inherited one too; of it output_before was said by the model itself (its reasoning need not be sent again)
-- and added_tokens is the rest: tool results, messages, notices. A compaction shows as a negative growth.
with calls as (
    select
        source_id, session_id, line, seq, "at", turn, step, model, is_inherited, output_tokens,
        input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
    from usage
    where kind = 'message' and not is_replaced and not is_recovered
),

following as (
    select
        *,
        lag(prompt_tokens) over before as prompt_before,
        lag(output_tokens) over before as output_before
    from calls
    window before as (partition by source_id order by line, seq)
),

stated as (
    select source_id, line, tokens, lag(tokens) over (partition by source_id order by line) as tokens_before
    from event_facts
    where type = 'request/context' and tokens is not null and not is_recovered
),

-- Every request may state its window; it changes seldom.
windows as (
    select
        source_id, tokens, line as from_line,
        lead(line, 1, 9223372036854775807) over (partition by source_id order by line) as to_line
    from stated
    where tokens is distinct from tokens_before
)

select
    f.session_id, f.source_id, f.line, f.seq, f."at", f.turn, f.step, f.model,
    f.prompt_tokens, f.output_tokens, f.prompt_before, f.output_before,
    f.prompt_tokens - f.prompt_before as growth_tokens,
    f.prompt_tokens - f.prompt_before - f.output_before as added_tokens,
    w.tokens as context_window,
    f.prompt_tokens / nullif(w.tokens, 0) as window_share
from following as f
left join windows as w on w.source_id = f.source_id and f.line >= w.from_line and f.line < w.to_line
where not f.is_inherited
