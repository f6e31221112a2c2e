-- doc: How answered tool calls ended, each with the name of the tool; null where the call itself is absent.
-- grain: one row per answered tool call
-- needs: tool_outcomes, calls
select c.name, o.*
from tool_outcomes as o
left join calls as c
    on c.source_key = o.source_key and c.call_id = o.call_id and c.call_number = o.call_number
    and not c.is_recovered
