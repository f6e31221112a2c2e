-- doc: Sessions that begin with a copy of another: from where, how much, and what counting the copy again would add.
-- grain: one row per forked or seeded session
-- needs: sessions, usage
with copied as (
    select
        source_id,
        max(turn) as turn,
        count(*) as calls,
        sum(
            input_tokens + output_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)
        )::bigint as tokens
    from usage
    where is_inherited and not is_replaced and not is_recovered
    group by source_id
),

known as (select distinct session_id from sessions)

select
    s.session_id, s.source_id, s.parent_session_id, s.root_session_id, s.origin, s.created_at,
    k.session_id is not null as is_parent_known,
    s.inherited_events,
    c.turn as last_inherited_turn,
    coalesce(c.calls, 0) as inherited_calls,
    c.tokens as inherited_tokens
from sessions as s
left join copied as c using (source_id)
left join known as k on k.session_id = s.parent_session_id
where s.is_seeded or s.inherited_events > 0 or (s.parent_session_id is not null and s.origin is null)
order by s.created_at, s.session_id, s.source_id
