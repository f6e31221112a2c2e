-- doc: What each session did and cost in tokens: own events only, sub-agents in rows of their own.
-- grain: one row per session
-- needs: sessions, own_messages, call_outcomes, billed_usage, turn_times, source_status
with turns as (
    select s.source_id, sum(t.starts)::bigint as turns
    from turn_times as t
    inner join source_status as s using (source_key)
    group by s.source_id
),

spoken as (
    select
        source_id,
        count(*) filter (is_human) as human_messages,
        count(*) filter (role = 'assistant') as assistant_messages
    from own_messages
    group by source_id
),

called as (
    select
        source_id,
        count(*) filter (is_called and not is_inherited and not is_recovered) as tool_calls,
        count(*) filter (own_status = 'error') as tool_errors
    from call_outcomes
    group by source_id
),

billed as materialized (
    select
        source_id, model,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        sum(cache_read_tokens) as cache_read_tokens,
        sum(cache_write_tokens) as cache_write_tokens,
        sum(billed_tokens) as total_tokens
    from billed_usage
    group by source_id, model
),

spent as (
    select
        source_id,
        arg_max(model, total_tokens) as model,
        count(model) as models,
        try_cast(sum(input_tokens) as bigint) as input_tokens,
        try_cast(sum(output_tokens) as bigint) as output_tokens,
        try_cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
        try_cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
        try_cast(sum(total_tokens) as bigint) as total_tokens
    from billed
    group by source_id
)

select
    s.session_id,
    s.source_id,
    s.root_session_id,
    s.origin,
    s.title,
    s.workspace,
    s.cwd,
    coalesce(s.created_at, s.first_event_at) as started_at,
    s.last_event_at,
    spent.model,
    coalesce(spent.models, 0) as models,
    coalesce(turns.turns, 0) as turns,
    coalesce(spoken.human_messages, 0) as human_messages,
    coalesce(spoken.assistant_messages, 0) as assistant_messages,
    coalesce(called.tool_calls, 0) as tool_calls,
    coalesce(called.tool_errors, 0) as tool_errors,
    spent.input_tokens,
    spent.output_tokens,
    spent.cache_read_tokens,
    spent.cache_write_tokens,
    spent.total_tokens
from sessions as s
left join turns using (source_id)
left join spoken using (source_id)
left join called using (source_id)
left join spent using (source_id)
order by started_at desc nulls last, s.session_id
