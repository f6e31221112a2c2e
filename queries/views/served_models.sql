-- doc: Which model was asked for and which one answered.
-- grain: one row per provider, model asked for and model that answered; served_model is null where no record says
-- needs: billed_usage
select
    provider, model, served_model,
    count(*) as calls,
    count(distinct session_id) as sessions,
    sum(billed_tokens)::bigint as total_tokens,
    count(*) / sum(count(*)) over (partition by provider, model) as share,
    min("at") as first_at,
    max("at") as last_at
from billed_usage
group by provider, model, served_model
order by provider, model, first_at, served_model
