-- doc: When which price holds, in the currency that is asked for; the figures are of one token.
-- grain: one row per name of a model and price row without hours, and per window of the week of one with hours
-- needs: stored.prices
-- params: currency
-- A call is priced by the name that was asked for and by its own time: the row with hours comes before the one without.
with offered as (
    select
        model, price_id, currency, valid_from, valid_to, windows,
        (input * 0.000001::decimal(7, 6))::decimal(18, 15) as input,
        (output * 0.000001::decimal(7, 6))::decimal(18, 15) as output,
        (cache_read * 0.000001::decimal(7, 6))::decimal(18, 15) as cache_read,
        (cache_write * 0.000001::decimal(7, 6))::decimal(18, 15) as cache_write
    from stored.prices
    where currency = coalesce(getvariable('currency')::varchar, 'USD')
)

select
    * exclude (windows),
    -- Without hours: one window that is no part of the week.
    unnest(
        case when len(windows) > 0 then windows else [{weekday: null, from_minute: null, to_minute: null}] end,
        max_depth := 2
    )
from offered
where windows is not null
