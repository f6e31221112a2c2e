-- doc: Each session's own totals, those of all its sub-agents, and the share that they take of tokens, money and time.
-- grain: one row per session
-- needs: sessions, session_ancestors, source_status, priced_usage, turn_times
-- Subtree totals hold the session itself and everything below it, each once. Time is that of turns from start to end, of
-- each session by itself: sub-agents run at the same time as their parents, so sums of it are work, not waiting.
with keys as (select source_key, source_id from source_status where is_counted),

spent as (
    select
        source_id,
        count(*) as calls,
        sum(billed_tokens)::bigint as total_tokens,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_tokens)::bigint as cache_write_tokens,
        sum(amount)::double as cost
    from priced_usage
    group by source_id
),

worked as (
    select source_key, sum(duration_ms)::bigint as turn_ms from turn_times group by source_key
),

own as (
    select k.source_key, k.source_id, w.turn_ms, t.* exclude (source_id)
    from keys as k
    left join spent as t on t.source_id = k.source_id
    left join worked as w on w.source_key = k.source_key
),

subtrees as (
    select
        a.ancestor_key as source_key,
        count(*) as sessions,
        count(*) filter (a.distance = 1) as children,
        max(a.distance) as height,
        sum(o.calls)::bigint as calls,
        sum(o.total_tokens)::bigint as total_tokens,
        sum(o.input_tokens)::bigint as input_tokens,
        sum(o.output_tokens)::bigint as output_tokens,
        sum(o.cache_read_tokens)::bigint as cache_read_tokens,
        sum(o.cache_write_tokens)::bigint as cache_write_tokens,
        sum(o.cost) as cost,
        sum(o.turn_ms)::bigint as turn_ms
    from session_ancestors as a
    inner join own as o on o.source_key = a.source_key
    group by a.ancestor_key
)

select
    s.session_id, s.source_id, s.parent_session_id, s.root_session_id, s.origin,
    b.sessions, b.children, b.height,
    coalesce(o.calls, 0) as own_calls, o.total_tokens as own_tokens, o.output_tokens as own_output_tokens,
    o.cache_read_tokens / nullif(
        coalesce(o.input_tokens, 0) + coalesce(o.cache_read_tokens, 0) + coalesce(o.cache_write_tokens, 0), 0
    ) as own_cache_read_share,
    o.cost as own_cost, o.turn_ms as own_turn_ms,
    coalesce(b.calls, 0) as subtree_calls, b.total_tokens as subtree_tokens, b.output_tokens as subtree_output_tokens,
    b.cache_read_tokens / nullif(
        coalesce(b.input_tokens, 0) + coalesce(b.cache_read_tokens, 0) + coalesce(b.cache_write_tokens, 0), 0
    ) as subtree_cache_read_share,
    b.cost as subtree_cost, b.turn_ms as subtree_turn_ms,
    (b.total_tokens - coalesce(o.total_tokens, 0)) / nullif(b.total_tokens, 0) as subagent_token_share,
    (b.cost - coalesce(o.cost, 0)) / nullif(b.cost, 0) as subagent_cost_share,
    (b.turn_ms - coalesce(o.turn_ms, 0)) / nullif(b.turn_ms, 0) as subagent_time_share
from sessions as s
inner join own as o on o.source_id = s.source_id
inner join subtrees as b on b.source_key = o.source_key
