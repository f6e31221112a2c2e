-- doc: What models cost and when: the shipped price rows, and those of the `prices.csv` of the lake.
-- grain: one row per name of a model and price row that holds for it
-- needs: stored.prices
select
    price_id, model, priced_as, currency, valid_from, valid_to, hours_utc, days, days_utc_offset,
    input::double as input_price, output::double as output_price, cache_read::double as cache_read_price,
    cache_write::double as cache_write_price, is_own, source, remark
from stored.prices
