-- doc: Turns that were interrupted, or killed, on both sides, and whether one side only came further than the other.
-- grain: one row per turn that ends early on both sides and in which rows differ
-- needs: drift_places
-- Rows that stand once in a session, at its first step, say nothing of how far a turn came.
with endings as (
    select
        pair, part, expected_turn as turn, 'expected' as side,
        max(expected_ending) as reason
    from drift_places
    where expected_turn > 0
    group by all
    union all
    select
        pair, part, actual_turn as turn, 'actual' as side,
        max(actual_ending) as reason
    from drift_places
    where actual_turn > 0
    group by all
),

cut as (
    select pair, part, turn
    from (
        select
            *,
            -- A turn without an end is the last one of a session that was killed.
            case
                when reason is not null then reason = 'interrupted'
                else turn = max(turn) over (partition by pair, part, side)
            end as is_cut
        from endings
    ) as told
    group by all
    having count(*) = 2 and bool_and(is_cut)
),

steps as (
    select p.*, c.turn
    from drift_places as p
    inner join cut as c
        on c.pair = p.pair and c.part = p.part and c.turn = coalesce(p.expected_turn, p.actual_turn)
    where p.type not in ('turn/end', 'step/end', 'system/message', 'request/context', 'session/title', 'session/end-seed')
)

select
    pair, part, turn,
    -- Beyond the last row that both sides have, one of them goes on; before it, they are alike.
    not (bool_or(is_added and not is_context) and bool_or(is_removed and not is_context))
    and coalesce(min(place) filter ((is_added or is_removed) and not is_context), 9223372036854775807)
    > coalesce(max(place) filter (not is_added and not is_removed and is_before), -1) as is_timing
from (
    select
        *,
        -- What tells the model where it is also stands once in a session.
        type = 'user/message' and coalesce(expected_text, actual_text) like '%"source":{"kind":"runtime-context"%' as is_context,
        type not in ('agent/inbox/spliced', 'request/header') as is_before
    from steps
) as told
group by pair, part, turn
having bool_or(is_added or is_removed or not is_equal)
