-- doc: What lines are aligned by: their text without ids, clocks and positions, and their type and tool.
-- grain: one row per line of a part that differs
-- needs: drift.rows
select
    pair, part, side, line,
    md5(
        regexp_replace(
            regexp_replace(
                text,
                '\{\{[a-z]+:[0-9]+\}\}|\b[a-z]+-[0-9a-f]{16}\b|\b[0-9]{13}\b|-[0-9a-f]{64}\b',
                '', 'g'
            ),
            '"(sourceEventSeqs|messageSeqs|delayMs)":(\[[0-9,]*\]|[0-9.]+)|dsh-(spill|subprocess)-[A-Za-z0-9]{6}[^\s"]*', '', 'g'
        )
    ) as key,
    concat_ws(' ', type, tool) as kind
from drift.rows
where text is not null
order by pair, part, side, line
