-- doc: Every difference between two sides, with what it comes from.
-- grain: one row per place that differs and cause
-- needs: drift_places, drift_cut_turns, drift_leaf_causes, drift_causes
-- change: added, removed or changed. members: the members that differ for this cause.
with cuts as (
    select pair, part, min(turn) as first_cut, list(turn) as turns
    from drift_cut_turns
    where is_timing
    group by all
),

sequences as (
    -- Calls in their order, those of one step together.
    select
        pair, part,
        coalesce(list(expected_call order by expected_line) filter (expected_tool is not null), [])
        <> coalesce(list(actual_call order by actual_line) filter (actual_tool is not null), []) as is_other_sequence
    from (
        select
            pair, part, expected_line, actual_line, expected_tool, actual_tool,
            concat_ws(' ', dense_rank() over (
                partition by pair, part, expected_tool is null order by expected_step
            ), expected_tool) as expected_call,
            concat_ws(' ', dense_rank() over (
                partition by pair, part, actual_tool is null order by actual_step
            ), actual_tool) as actual_call
        from drift_places
    ) as calls
    group by all
),

types as (
    select pair, part, type, count(expected_line) as expected, count(actual_line) as actual
    from drift_places
    group by all
),

alone as (
    select
        p.*, s.is_other_sequence, t.expected as of_expected, t.actual as of_actual,
        coalesce(p.expected_text, p.actual_text) as text,
        list_contains(c.turns, coalesce(p.expected_turn, p.actual_turn)) is true as is_cut,
        coalesce(p.expected_turn, p.actual_turn) >= c.first_cut is true
        and (
            p.type in ('system/message', 'request/context', 'session/title')
            or (p.type = 'user/message' and coalesce(p.expected_text, p.actual_text) like '%"source":{"kind":"runtime-context"%')
        ) as is_shifted
    from drift_places as p
    inner join sequences as s on s.pair = p.pair and s.part = p.part
    inner join types as t on t.pair = p.pair and t.part = p.part and t.type is not distinct from p.type
    left join cuts as c on c.pair = p.pair and c.part = p.part
    where p.is_added or p.is_removed
),

one_sided as (
    select
        pair, part, place, type, case when is_added then 'added' else 'removed' end as change, []::varchar[] as members,
        case
            when is_cut or is_shifted then 'interruption-timing'
            when type = 'tool/call' and is_other_sequence then 'tool-sequence-changed'
            when
                bool_or(is_added) over (partition by pair, part, text) and bool_or(is_removed) over (partition by pair, part, text)
                then 'order-changed'
            when
                is_other_sequence and regexp_matches(type, '^(tool|step|assistant|job|approval|llm|usage|message)(/|$)')
                then 'tool-sequence-changed'
            when of_expected = 0 then 'new-event-type'
            when of_actual = 0 then 'event-type-gone'
            when type is null then 'output-changed'
            when is_added then 'rows-added'
            else 'rows-removed'
        end as cause
    from alone
),

inner_causes as (
    select
        l.pair, l.part, l.place, l.type, l.member, l.is_stream,
        case
            when l.cause in ('ids-renumbered', 'job-ids', 'spill-paths', 'stream-ids', 'migration-ids') then l.cause
            when l.member = 'data.reason' and l.type = 'request/header' and c.first_cut is not null
                and l.expected in ('initial', 'resume') and l.actual in ('initial', 'resume') then 'interruption-timing'
            -- A call more or less gives the events around it another form.
            when
                s.is_other_sequence and regexp_matches(l.type, '^(tool|step|assistant|job|approval|llm|usage|message)(/|$)')
                and l.cause in ('members-changed', 'value-changed', 'references-changed', 'call-ids-changed', 'tool-arguments-changed')
                then 'tool-sequence-changed'
            else l.cause
        end as cause
    from drift_leaf_causes as l
    inner join sequences as s on s.pair = l.pair and s.part = l.part
    left join cuts as c on c.pair = l.pair and c.part = l.part
),

changed as (
    select i.*, c.tier = 'noise' as is_noise
    from inner_causes as i
    inner join drift_causes as c on c.cause = i.cause
),

weighed as (
    select
        *,
        -- The stream repeats the message: it counts where it says something that the message does not.
        bool_or(not is_stream and not is_noise) over (partition by pair, part, place) as is_told,
        bool_or(cause in ('job-ids', 'spill-paths', 'stream-ids')) over (partition by pair, part, place) as has_ids
    from changed
),

reasons as (
    select
        pair, part, place, type, member,
        case when cause = 'stream-cuts' and has_ids then 'stream-ids' else cause end as cause
    from weighed
    where not (is_stream and not is_noise and is_told)
)

select pair, part, place, type, 'changed' as change, list(distinct member order by member) as members, cause
from reasons
group by pair, part, place, type, cause
union all
select pair, part, place, type, change, members, cause
from one_sided
order by pair, part, place
