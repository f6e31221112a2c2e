-- doc: The sums that every view of usage gives of its calls, as a struct; its argument is a row of priced_usage.
-- grain: one row per group
-- params: u
-- A sum is null where nothing is known of any call. The share is a ratio of sums, not a mean of ratios. Sums of
-- costs leave out calls without a price: how many these are, and of how many tokens, stands beside.
select struct_pack(
    calls := count(*),
    input_tokens := try_cast(sum(u.input_tokens) as bigint),
    output_tokens := try_cast(sum(u.output_tokens) as bigint),
    cache_read_tokens := try_cast(sum(u.cache_read_tokens) as bigint),
    cache_write_tokens := try_cast(sum(u.cache_write_tokens) as bigint),
    reasoning_tokens := try_cast(sum(u.reasoning_tokens) as bigint),
    total_tokens := try_cast(sum(u.billed_tokens) as bigint),
    cache_read_share := sum(u.cache_read_tokens) / nullif(
        coalesce(sum(u.input_tokens), 0) + coalesce(sum(u.cache_read_tokens), 0) + coalesce(sum(u.cache_write_tokens), 0), 0
    ),
    input_cost := sum(u.input_amount)::double,
    output_cost := sum(u.output_amount)::double,
    cache_read_cost := sum(u.cache_read_amount)::double,
    cache_write_cost := sum(u.cache_write_amount)::double,
    cost := sum(u.amount)::double,
    currency := max(u.currency),
    unpriced_calls := count(*) filter (u.amount is null),
    unpriced_tokens := try_cast(sum(case when u.amount is null then u.billed_tokens else 0 end) as bigint)
)
