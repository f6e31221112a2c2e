-- doc: The measures of baselines, as a struct; its argument is a row of activity.
-- grain: one row per group
-- params: a
-- Shares and rates are ratios of sums. Sums of tokens and cost are null where nothing is known of any call; costs leave
-- out calls without a price, whose number and tokens stand beside. Quantiles are of single calls and turns.
select struct_pack(
    first_at := min(a."at"),
    last_at := max(a."at"),
    sessions := count(distinct a.source_id),
    subagent_sessions := count(distinct a.source_id) filter (a.origin = 'subagent'),
    turns := coalesce(sum(a.starts), 0)::bigint,
    turns_failed := count(*) filter (a.kind = 'turn' and a.status = 'error'),
    turn_error_rate := count(*) filter (a.kind = 'turn' and a.status = 'error') / nullif(sum(a.starts), 0),
    turn_duration_ms_p50 := (quantile_cont(a.duration_ms, 0.5) filter (a.kind = 'turn'))::bigint,
    turn_duration_ms_p90 := (quantile_cont(a.duration_ms, 0.9) filter (a.kind = 'turn'))::bigint,
    first_token_ms_p50 := quantile_cont(a.first_token_ms, 0.5)::bigint,
    first_token_ms_p90 := quantile_cont(a.first_token_ms, 0.9)::bigint,
    human_messages := count(*) filter (a.kind = 'human message'),
    tool_calls := count(*) filter (a.kind = 'tool call'),
    tool_errors := count(*) filter (a.kind in ('tool call', 'tool result') and a.status = 'error'),
    tool_interrupted := count(*) filter (a.kind in ('tool call', 'tool result') and a.status = 'interrupted'),
    tool_error_rate := count(*) filter (a.kind in ('tool call', 'tool result') and a.status = 'error')
        / nullif(count(*) filter (a.kind = 'tool call'), 0),
    tool_duration_ms_p50 := (quantile_cont(a.duration_ms, 0.5) filter (a.kind = 'tool call'))::bigint,
    tool_duration_ms_p90 := (quantile_cont(a.duration_ms, 0.9) filter (a.kind = 'tool call'))::bigint,
    retries := coalesce(sum(a.retries), 0)::bigint,
    attempts := coalesce(sum(a.attempts), 0)::bigint,
    billed_calls := count(*) filter (a.kind = 'billed call'),
    input_tokens := try_cast(sum(a.input_tokens) as bigint),
    output_tokens := try_cast(sum(a.output_tokens) as bigint),
    cache_read_tokens := try_cast(sum(a.cache_read_tokens) as bigint),
    cache_write_tokens := try_cast(sum(a.cache_write_tokens) as bigint),
    reasoning_tokens := try_cast(sum(a.reasoning_tokens) as bigint),
    total_tokens := try_cast(sum(a.total_tokens) as bigint),
    cache_read_share := sum(a.cache_read_tokens) / nullif(
        coalesce(sum(a.input_tokens), 0) + coalesce(sum(a.cache_read_tokens), 0) + coalesce(sum(a.cache_write_tokens), 0), 0
    ),
    cost := sum(a.amount)::double,
    currency := max(a.currency),
    unpriced_calls := count(*) filter (a.kind = 'billed call' and a.amount is null),
    unpriced_tokens := try_cast(
        sum(case when a.kind = 'billed call' and a.amount is null then a.total_tokens else 0 end) as bigint
    )
)
