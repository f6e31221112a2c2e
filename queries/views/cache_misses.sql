-- doc: Calls that read less from the cache than they shared with the call before: by how much, and the first cause found.
-- grain: one row per own call that fell short, and per first call of a sub-agent
-- needs: usage, priced_usage, source_status, event_facts, messages, tool_results
-- params: cache_tolerance_tokens, idle_gap_s
-- prefix_tokens estimates what could have been cached: the prompt of the call before in the same file (an inherited one
-- too: a fork goes on from it) and its output, but no more than this call's own prompt. It is an upper bound: what of
-- the output is sent again (reasoning mostly is not) and where a replacement begins is not on record. Providers cache
-- in blocks, so what is short by no more than the variable cache_tolerance_tokens (128) is no miss. Calls whose cache
-- reads are not reported are left out: nothing is known of them.
-- Causes in the order in which they are looked for: "model switch" (other provider, model, or model that answered),
-- "tools or prompt changed" (by digest, since the call before), "compaction or replacement" (also the call that writes
-- the summary), "sub-agent start" (its first call of its own; where it begins with nothing inherited, what it shares with
-- its parent is not known, so prefix_tokens and missed_tokens are null), "fork start" (the first call after a copied
-- beginning), "idle gap" (more than the variable idle_gap_s between the two replies, by default 300 seconds, the shortest
-- life that providers promise), "answer not cached" (the whole prompt before was read, only the answer to it was not),
-- "unknown".
-- missed_tokens is what was paid uncached of the prefix; missed_cost what it cost above the price of reading it.
with calls as (
    select
        *,
        input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
    from usage
    where not is_replaced and not is_recovered and input_tokens is not null
),

pairs as (
    select
        session_id, source_id, line, seq, "at", turn, step, kind, provider, model, served_model,
        input_tokens, cache_read_tokens, cache_write_tokens, prompt_tokens, is_inherited,
        lag(line) over before as line_before,
        lag("at") over before as at_before,
        lag(kind) over before as kind_before,
        lag(provider) over before as provider_before,
        lag(model) over before as model_before,
        lag(served_model) over before as served_before,
        lag(is_inherited) over before as is_inherited_before,
        lag(prompt_tokens) over before as prompt_before,
        least(prompt_tokens, lag(prompt_tokens + output_tokens) over before) as prefix_tokens
    from calls
    window before as (partition by source_id order by line, seq)
),

short as (
    select p.*, s.origin = 'subagent' and coalesce(p.is_inherited_before, true) as is_start
    from (
        select * replace (case when line_before is not null then prefix_tokens end as prefix_tokens)
        from pairs
        where not is_inherited and cache_read_tokens is not null
            and (
                line_before is null
                or cache_read_tokens + coalesce(getvariable('cache_tolerance_tokens')::bigint, 128) < prefix_tokens
            )
    ) as p
    inner join source_status as s on s.source_id = p.source_id
    where p.line_before is not null or s.origin = 'subagent'
),

digests as (
    select
        source_id, line,
        tools_sha256 is distinct from lag(tools_sha256 ignore nulls) over before and tools_sha256 is not null
            and lag(tools_sha256 ignore nulls) over before is not null as has_new_tools,
        prompt_sha256 is distinct from lag(prompt_sha256 ignore nulls) over before and prompt_sha256 is not null
            and lag(prompt_sha256 ignore nulls) over before is not null as has_new_prompt
    from event_facts
    where type in ('request/header', 'system/message') and not is_recovered
    window before as (partition by source_id order by line, seq)
),

changes as (select source_id, line from digests where has_new_tools or has_new_prompt),

replacements as (
    select source_id, line from messages where is_replacement and not is_recovered
    union all
    select source_id, line from tool_results where is_replacement and not is_recovered
    union all
    select source_id, line
    from event_facts
    where type in ('compaction/summary', 'compaction/prune', 'compact/summary', 'compact/prune') and not is_recovered
),

-- Few files have such events: the call that followed each is looked for in these alone.
changed as (
    select distinct c.source_id, c.line
    from changes as b
    asof inner join (from short semi join changes using (source_id)) as c
        on c.source_id = b.source_id and c.line > b.line
    where b.line > c.line_before
),

replaced as (
    select distinct c.source_id, c.line
    from replacements as b
    asof inner join (from short semi join replacements using (source_id)) as c
        on c.source_id = b.source_id and c.line > b.line
    where b.line > c.line_before
),

explained as (
    select
        s.*,
        case
            when s.model <> s.model_before or s.provider <> s.provider_before or s.served_model <> s.served_before
                then 'model switch'
            when c.line is not null then 'tools or prompt changed'
            when s.kind = 'compaction' or s.kind_before = 'compaction' or r.line is not null
                then 'compaction or replacement'
            when s.is_start then 'sub-agent start'
            when s.is_inherited_before then 'fork start'
            when elapsed_ms(s.at_before, s."at")
                > 1000 * coalesce(getvariable('idle_gap_s')::double, 300) then 'idle gap'
            when s.cache_read_tokens + coalesce(getvariable('cache_tolerance_tokens')::bigint, 128) >= s.prompt_before
                then 'answer not cached'
            else 'unknown'
        end as cause,
        s.prefix_tokens - s.cache_read_tokens as missed_tokens,
        least(coalesce(s.cache_write_tokens, 0), s.prefix_tokens - s.cache_read_tokens) as missed_written
    from short as s
    left join changed as c on c.source_id = s.source_id and c.line = s.line
    left join replaced as r on r.source_id = s.source_id and r.line = s.line
)

select
    e.session_id, e.source_id, e.line, e.seq, e."at", e.turn, e.step, e.kind, e.provider, e.model, e.served_model,
    e.cause, e.prompt_tokens, e.cache_read_tokens, e.prefix_tokens, e.missed_tokens,
    e.prompt_tokens - e.cache_read_tokens as uncached_tokens,
    elapsed_ms(e.at_before, e."at") as gap_ms,
    case
        when e.missed_written = 0 then e.missed_tokens * (r.input_price - r.cache_read_price)::double
        else e.missed_written * (r.cache_write_price - r.cache_read_price)::double
            + (e.missed_tokens - e.missed_written) * (r.input_price - r.cache_read_price)::double
    end as missed_cost,
    r.currency
from explained as e
left join priced_usage as r on r.source_id = e.source_id and r.line = e.line and r.seq = e.seq
