-- doc: Models whose calls have no price: their cost is unknown, and sums of costs leave them out.
-- grain: one row per model and reason
-- needs: priced_usage
-- severity: warn
select
    'model' as subject_kind, model as subject_id, null::varchar as path, null::varchar as position,
    count(*) || ' calls of ' || coalesce('model "' || model || '"', 'an unnamed model') || ' ('
        || coalesce(sum(billed_tokens), 0) || ' tokens) have no cost: ' || unpriced_reason
        || case when unpriced_reason = 'no time' then '' else '; give one in the prices.csv of the lake' end as message,
    unpriced_reason as reason, count(*) as calls, try_cast(sum(billed_tokens) as bigint) as tokens
from priced_usage
where unpriced_reason is not null and unpriced_reason <> 'no usage reported'
group by model, unpriced_reason
