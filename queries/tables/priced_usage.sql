-- doc: Billed calls with the price row that holds for each, and what it makes of their tokens exactly.
-- grain: one row per billed model call
-- needs: billed_usage, price_times, stored.prices
-- params: currency
-- See price_times. For a count that is not reported nothing is charged; of a call without any nothing is known.
with names as (
    select model, bool_or(currency = coalesce(getvariable('currency')::varchar, 'USD')) as is_offered
    from stored.prices
    group by model
),

times as materialized (from price_times),

calls as (
    -- Day and minute in UTC, whatever zone the engine is set to; 1970-01-01 was a Thursday.
    select *, (minutes // 1440 + 3) % 7 + 1 as weekday, minutes % 1440 as "minute"
    from (select *, epoch_us("at") // 60000000 as minutes from billed_usage)
),

rated as (
    select
        c.* exclude (minutes, weekday, "minute"),
        n.is_offered,
        coalesce(w.price_id, a.price_id) as price_id,
        coalesce(w.currency, a.currency) as price_currency,
        coalesce(w.input, a.input) as input_price,
        coalesce(w.output, a.output) as output_price,
        coalesce(w.cache_read, a.cache_read) as cache_read_price,
        coalesce(w.cache_write, a.cache_write) as cache_write_price
    from calls as c
    left join names as n on n.model = c.model
    left join times as a
        on a.weekday is null and a.model = c.model
        and c."at" >= coalesce(a.valid_from, '-infinity') and c."at" < coalesce(a.valid_to, 'infinity')
    left join times as w
        on w.model = c.model and w.weekday = c.weekday
        and c."minute" >= w.from_minute and c."minute" < w.to_minute
        and c."at" >= coalesce(w.valid_from, '-infinity') and c."at" < coalesce(w.valid_to, 'infinity')
),

charged as (
    select
        *,
        input_tokens::decimal(19, 0) * input_price as input_amount,
        output_tokens::decimal(19, 0) * output_price as output_amount,
        cache_read_tokens::decimal(19, 0) * cache_read_price as cache_read_amount,
        cache_write_tokens::decimal(19, 0) * cache_write_price as cache_write_amount
    from rated
),

summed as (
    select *, input_amount + output_amount + coalesce(cache_read_amount, 0) + coalesce(cache_write_amount, 0) as amount
    from charged
)

select
    * exclude (is_offered, price_currency),
    case when amount is not null then price_currency end as currency,
    case
        when amount is not null then null
        when billed_tokens is null then 'no usage reported'
        when model is null then 'no model named'
        when is_offered is null then 'unknown model'
        when not is_offered then 'no price in this currency'
        when "at" is null then 'no time'
        else 'no price at that time'
    end as unpriced_reason
from summed
