-- doc: The part of activity that a baseline is of: since (inclusive), until (exclusive), workspace and model as variables.
-- grain: one row per counted thing
-- needs: activity
-- params: since, until, workspace, model
-- Rows are left out here, before anything is summed. A variable that is not set leaves nothing out; where a time is
-- asked for, rows without one are left out.
select *
from activity
where (getvariable('since') is null or "at" >= getvariable('since')::timestamptz)
    and (getvariable('until') is null or "at" < getvariable('until')::timestamptz)
    and (getvariable('workspace') is null or workspace = getvariable('workspace')::varchar)
    and (getvariable('model') is null or model = getvariable('model')::varchar)
