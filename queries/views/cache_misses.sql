-- doc: Calls that read less from the cache than they shared with the call before: by how much, and the first cause found.
-- grain: one row per own call that fell short, and per first call of a sub-agent
-- needs: usage, price_times, source_status, event_facts, messages, tool_results
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
        source_id, line, seq, "at", turn, step, kind, provider, model, served_model, is_inherited, output_tokens,
        cache_read_tokens, cache_write_tokens,
        input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0) as prompt_tokens
    from usage
    where not is_replaced and not is_recovered and input_tokens is not null
),

pairs as (
    select
        *,
        lag(line) over before as line_before,
        lag("at") over before as at_before,
        lag(kind) over before as kind_before,
        lag(provider) over before as provider_before,
        lag(model) over before as model_before,
        lag(served_model) over before as served_before,
        lag(is_inherited) over before as is_inherited_before,
        lag(prompt_tokens) over before as prompt_before,
        lag(output_tokens) over before as output_before
    from calls
    window before as (partition by source_id order by line, seq)
),

files as materialized (
    select source_id, session_id, origin = 'subagent' as is_child from source_status where is_counted
),

short as materialized (
    select
        source_id, line, seq, "at", turn, step, kind, provider, model, served_model,
        prompt_tokens, output_tokens, cache_read_tokens, cache_write_tokens, prefix_tokens,
        line_before, at_before, prompt_before, is_inherited_before,
        model <> model_before or provider <> provider_before or served_model <> served_before as is_switched,
        kind = 'compaction' or kind_before = 'compaction' as is_compacted,
        is_child and coalesce(is_inherited_before, true) as is_start
    from (
        select
            *,
            case
                when line_before is not null then least(prompt_tokens, prompt_before + output_before)
            end as prefix_tokens,
            source_id in (select source_id from files where is_child) as is_child
        from pairs
    )
    where not is_inherited and cache_read_tokens is not null
        and case
            when line_before is null then is_child
            else cache_read_tokens + coalesce(getvariable('cache_tolerance_tokens')::bigint, 128) < prefix_tokens
        end
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

-- What stands between two calls and explains the second: few files have such events, so that the call which
-- followed each is looked for in these alone.
marks as (
    select source_id, line, true as is_change from digests where has_new_tools or has_new_prompt
    union all
    select source_id, line, false as is_change from messages where is_replacement and not is_recovered
    union all
    select source_id, line, false as is_change from tool_results where is_replacement and not is_recovered
    union all
    select source_id, line, false as is_change
    from event_facts
    where type in ('compaction/summary', 'compaction/prune', 'compact/summary', 'compact/prune') and not is_recovered
),

marked as (
    select c.source_id, c.line, bool_or(b.is_change) as has_change, bool_or(not b.is_change) as has_replacement
    from marks as b
    asof inner join (from short semi join marks using (source_id)) as c
        on c.source_id = b.source_id and c.line > b.line
    where b.line > c.line_before
    group by c.source_id, c.line
),

times as (from price_times),

explained as (
    select
        s.*,
        case
            when s.is_switched then 'model switch'
            when m.has_change then 'tools or prompt changed'
            when s.is_compacted or m.has_replacement then 'compaction or replacement'
            when s.is_start then 'sub-agent start'
            when s.is_inherited_before then 'fork start'
            when elapsed_ms(s.at_before, s."at")
                > 1000 * coalesce(getvariable('idle_gap_s')::double, 300) then 'idle gap'
            when s.cache_read_tokens + coalesce(getvariable('cache_tolerance_tokens')::bigint, 128) >= s.prompt_before
                then 'answer not cached'
            else 'unknown'
        end as cause,
        s.prefix_tokens - s.cache_read_tokens as missed_tokens,
        least(coalesce(s.cache_write_tokens, 0), s.prefix_tokens - s.cache_read_tokens) as missed_written,
        -- As in priced_usage.
        (epoch_us(s."at") // 86400000000 + 3) % 7 + 1 as weekday,
        epoch_us(s."at") // 60000000 % 1440 as "minute"
    from short as s
    left join marked as m on m.source_id = s.source_id and m.line = s.line
),

rated as (
    select
        e.*,
        coalesce(w.currency, a.currency) as currency,
        coalesce(w.input, a.input) as input_price,
        coalesce(w.output, a.output) as output_price,
        coalesce(w.cache_read, a.cache_read) as cache_read_price,
        coalesce(w.cache_write, a.cache_write) as cache_write_price
    from explained as e
    left join times as a
        on a.weekday is null and a.model = e.model
        and e."at" >= coalesce(a.valid_from, '-infinity') and e."at" < coalesce(a.valid_to, 'infinity')
    left join times as w
        on w.model = e.model and w.weekday = e.weekday
        and e."minute" >= w.from_minute and e."minute" < w.to_minute
        and e."at" >= coalesce(w.valid_from, '-infinity') and e."at" < coalesce(w.valid_to, 'infinity')
)

select
    (select f.session_id from files as f where f.source_id = r.source_id) as session_id,
    source_id, line, seq, "at", turn, step, kind, provider, model, served_model,
    cause, prompt_tokens, cache_read_tokens, prefix_tokens, missed_tokens,
    prompt_tokens - cache_read_tokens as uncached_tokens,
    elapsed_ms(at_before, "at") as gap_ms,
    case
        when missed_written = 0 then missed_tokens * (input_price - cache_read_price)::double
        else missed_written * (cache_write_price - cache_read_price)::double
            + (missed_tokens - missed_written) * (input_price - cache_read_price)::double
    end as missed_cost,
    case when input_price is not null and output_tokens * output_price is not null then currency end as currency
from rated as r
