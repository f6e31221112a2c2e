-- doc: Shell commands that ended with an exit code other than zero, which DSH does not call failed calls.
-- grain: one row per tool name of which some result tells an exit code
-- needs: tool_calls, wilson_interval
-- A result tells the code at the end of its text, `[exit code: N]`, and only where it is not zero: so commands are all
-- answered calls of the tool that are no failed calls. nonzero_rate_low and nonzero_rate_high enclose the true share
-- of them with 95 % confidence (Wilson's interval).
with told as (
    select
        name,
        count(*) as calls,
        count(*) filter (status = 'ok' or exit_code is not null) as commands,
        count(*) filter (exit_code <> 0) as nonzero,
        count(distinct exit_code) filter (exit_code <> 0) as codes,
        mode(exit_code order by exit_code) filter (exit_code <> 0) as most_frequent_code
    from tool_calls
    where not is_inherited and not is_recovered
    group by name
    having count(exit_code) > 0
)

select
    t.name, t.calls, t.commands, t.nonzero,
    t.nonzero / nullif(t.commands, 0) as nonzero_rate, w.low as nonzero_rate_low, w.high as nonzero_rate_high,
    t.codes, t.most_frequent_code
from told as t, wilson_interval(t.nonzero, t.commands) as w
order by t.nonzero desc, t.name
