-- doc: The measures of a baseline as a whole: sessions, turns, tools, latencies, retries, tokens, cache, cost.
-- grain: one row
-- needs: baseline_activity, wilson_interval
-- Sessions are those in which something happened. Rates stand with the bounds that enclose the true rate with 95 %
-- confidence (Wilson's interval). Durations of tools are of answered calls, of turns of those that ended.
select
    totals.*, turns.low as turn_error_rate_low, turns.high as turn_error_rate_high,
    tools.low as tool_error_rate_low, tools.high as tool_error_rate_high
from (select activity_totals(a) as totals from baseline_activity as a) as t,
    wilson_interval(t.totals.turns_failed, t.totals.turns) as turns,
    wilson_interval(t.totals.tool_errors, t.totals.tool_calls) as tools
