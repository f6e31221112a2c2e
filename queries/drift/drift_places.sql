-- doc: The aligned lines of parts that differ, with the type, tool and turn of either side.
-- grain: one row per place
-- needs: drift.places, drift.rows
with turns as (
    select
        pair, part, side, line, type, tool, step, ending, digest, text,
        count(*) filter (type = 'turn/start') over (
            partition by pair, part, side order by line
        ) as turn
    from drift.rows
    where text is not null
)

select
    p.pair, p.part, p.place, p.expected_line, p.actual_line,
    coalesce(e.type, a.type) as type,
    e.type as expected_type, a.type as actual_type,
    e.tool as expected_tool, a.tool as actual_tool,
    e.step as expected_step, a.step as actual_step,
    e.turn as expected_turn, a.turn as actual_turn,
    e.ending as expected_ending, a.ending as actual_ending,
    e.text as expected_text, a.text as actual_text,
    coalesce(e.digest = a.digest, false) as is_equal,
    e.line is null as is_added,
    a.line is null as is_removed
from drift.places as p
left join turns as e on e.pair = p.pair and e.part = p.part and e.side = 'expected' and e.line = p.expected_line
left join turns as a on a.pair = p.pair and a.part = p.part and a.side = 'actual' and a.line = p.actual_line
