-- doc: The totals of the lake: what `dsh-lake scan` prints, as one row.
-- grain: one row
-- needs: source_status, sessions, messages, tool_errors, billed_usage, cassettes, interactions
-- Files that another copy or generation stands for are in none of it.
with files as (
    select
        count(*) filter (status = 'superseded') as superseded_sources,
        count(*) filter (status = 'duplicate') as duplicate_sources,
        count(*) filter (status = 'skipped') as skipped_sources,
        count(*) filter (status = 'failed') as failed_sources,
        coalesce(sum(size_bytes) filter (is_counted), 0)::bigint as compressed_bytes,
        coalesce(sum(decoded_bytes) filter (is_counted), 0)::bigint as decoded_bytes,
        coalesce(sum(frames) filter (is_shown), 0)::bigint as frames,
        coalesce(sum(bad_frames) filter (is_shown), 0)::bigint as bad_frames,
        count(*) filter (is_shown and torn_tail_bytes > 0) as torn_tails,
        coalesce(sum(lines) filter (is_shown), 0)::bigint as lines,
        coalesce(sum(recovered_lines) filter (is_shown), 0)::bigint as recovered_lines,
        coalesce(sum(rejected_lines) filter (is_shown), 0)::bigint as rejected_lines,
        coalesce(sum(events) filter (is_counted), 0)::bigint as events
    from (select *, is_counted or status in ('skipped', 'failed') as is_shown from source_status)
    where kind not in ('cassette', 'manifest')
),

heads as (
    select count(*) as sessions, count(*) filter (origin = 'subagent') as subagent_sessions from sessions
),

spoken as (
    select
        count(*) filter (role = 'user') as user_messages,
        count(*) filter (is_human) as human_messages,
        count(*) filter (role = 'assistant') as assistant_messages
    from messages
    where not is_inherited and not is_recovered
),

tools as (
    select
        coalesce(sum(calls), 0)::bigint as tool_calls,
        coalesce(sum(errors), 0)::bigint as tool_errors,
        coalesce(sum(interrupted), 0)::bigint as tool_interrupted,
        list({name: name, calls: calls, errors: errors} order by calls desc, name) filter (calls > 0) as tools
    from tool_errors
),

kinds as (
    -- Sums are wider than any one count: a lake that holds absurd counts still has a true total.
    select
        kind,
        coalesce(sum(input_tokens), 0) as input,
        coalesce(sum(output_tokens), 0) as output,
        coalesce(sum(cache_read_tokens), 0) as cache_read,
        coalesce(sum(cache_write_tokens), 0) as cache_write,
        coalesce(sum(reasoning_tokens), 0) as reasoning,
        coalesce(sum(billed_tokens), 0) as total
    from billed_usage
    group by kind
),

spent as (
    select
        coalesce(sum(input), 0) as input_tokens,
        coalesce(sum(output), 0) as output_tokens,
        coalesce(sum(cache_read), 0) as cache_read_tokens,
        coalesce(sum(cache_write), 0) as cache_write_tokens,
        coalesce(sum(reasoning), 0) as reasoning_tokens,
        coalesce(sum(total), 0) as total_tokens,
        list(kinds order by kind) as tokens_by_kind
    from kinds
),

recorded as (
    select (select count(*) from cassettes) as cassettes, (select count(*) from interactions) as interactions
)

select
    *,
    tool_errors / nullif(tool_calls, 0) as tool_error_rate,
    cache_read_tokens / nullif(input_tokens + cache_read_tokens + cache_write_tokens, 0) as cache_read_share
from files, heads, spoken, tools, spent, recorded
