-- doc: How answered tool calls ended, each with the name of the tool; null where the call itself is absent.
-- grain: one row per answered tool call
-- needs: call_outcomes
select
    name, source_key, call_id, call_number, source_id, session_id, own_line as line, own_seq as seq,
    own_status as status, own_error_name as error_name, own_error_code as error_code
from call_outcomes
where own_status is not null
