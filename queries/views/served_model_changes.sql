-- doc: When what answers behind a name changed.
-- grain: one row per change: the first call that another model answered than the one before under the same name
-- needs: billed_usage
-- Calls of all sessions in the order of their time; those that do not say who answered are passed over.
with answered as (
    select
        provider, model, served_model, "at", session_id, source_id, line, seq,
        lag(served_model) over before as served_before,
        lag("at") over before as last_seen_at
    from billed_usage
    where served_model is not null
    window before as (partition by provider, model order by "at", source_id, line, seq)
)

select provider, model, served_before, served_model, last_seen_at, "at", session_id, source_id, line, seq
from answered
where served_model <> served_before
order by "at", source_id, line
