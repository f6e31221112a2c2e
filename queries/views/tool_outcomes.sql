-- doc: How answered tool calls ended: one own result each, also where the call itself was inherited or is absent.
-- grain: one row per answered tool call
-- needs: named_outcomes
select * exclude (name) from named_outcomes
