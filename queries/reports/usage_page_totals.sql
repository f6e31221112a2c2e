-- doc: Tokens and cost of the period that a page of usage is of.
-- grain: one row
-- needs: priced_usage, usage, own_messages
-- params: from_at, to_at, time_zone
-- Calls without a time are of no period, and of the whole lake. unreported_replies are no calls: they state no usage.
select
    totals.*, attempts, compactions, calls_without_time,
    date_diff('day', first_at, last_at) as days_apart,
    strftime(timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), first_at), '%Y-%m-%d')
        as first_day,
    strftime(timezone(coalesce(getvariable('time_zone')::varchar, current_setting('TimeZone')), last_at), '%Y-%m-%d')
        as last_day,
    (
        select count(*)
        from own_messages as m
        anti join (select source_id, line from usage) as u using (source_id, line)
        where m.role = 'assistant' and not m.is_replacement
            and coalesce(m."at" >= $from_at::timestamptz and m."at" < $to_at::timestamptz, $from_at is null)
    ) as unreported_replies
from (
    select
        usage_totals(u) as totals,
        count(*) filter (u.kind = 'attempt') as attempts,
        count(*) filter (u.kind = 'compaction') as compactions,
        count(*) filter (u."at" is null) as calls_without_time,
        min(u."at") as first_at,
        max(u."at") as last_at
    from priced_usage as u
    where coalesce(u."at" >= $from_at::timestamptz and u."at" < $to_at::timestamptz, $from_at is null)
)
