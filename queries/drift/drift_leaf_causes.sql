-- doc: What each member that differs comes from, seen by itself.
-- grain: one row per member that differs in a line that both sides have
-- needs: drift.leaves, drift.parts, drift_places, drift_renames, drift_faithful_renames
with renamed as (
    select
        r.pair, r.part, r.place, r.leaf,
        bool_and(r.expected = r.actual or f.pair is not null) as is_faithful,
        bool_or(r.expected <> r.actual and r.kind = 'job') as has_job,
        bool_or(r.expected <> r.actual and r.kind = 'spill') as has_spill,
        bool_or(r.expected <> r.actual and r.kind = 'migration') as has_migration,
        bool_or(r.expected <> r.actual and r.kind = 'stream') as has_stream
    from drift_renames as r
    left join drift_faithful_renames as f
        on f.pair = r.pair and f.kind = r.kind and f.expected = r.expected and f.actual = r.actual
    where r.leaf >= 0
    group by all
),

moved as (
    -- A position that one side names is that of the other side's same line: the header is line 1, seq 0 line 2.
    select l.pair, l.part, l.place, l.leaf
    from drift.leaves as l
    inner join drift_places as p
        on
            p.pair = l.pair and p.part = l.part
            and p.expected_line = try_cast(l.expected as bigint) + 2 and p.actual_line = try_cast(l.actual as bigint) + 2
    where l.member in ('sourceEventSeqs[]', 'data.messageSeqs[]')
),

added as (
    select distinct pair from drift_places
    where is_added or is_removed
),

told as (
    select
        l.*, p.type, r.is_faithful, r.has_job, r.has_spill, r.has_migration, r.has_stream,
        m.pair is not null as is_moved,
        a.pair is not null as has_added,
        coalesce(try_cast(l.expected as double), try_cast(l.actual as double)) is not null as is_number,
        l.expected is null or l.actual is null as is_one_sided,
        d.role is null as is_output
    from drift.leaves as l
    inner join drift.parts as d on d.pair = l.pair and d.part = l.part
    inner join drift_places as p on p.pair = l.pair and p.part = l.part and p.place = l.place
    left join renamed as r on r.pair = l.pair and r.part = l.part and r.place = l.place and r.leaf = l.leaf
    left join moved as m on m.pair = l.pair and m.part = l.part and m.place = l.place and m.leaf = l.leaf
    left join added as a on a.pair = l.pair
)

select
    pair, part, place, leaf, member, type, expected, actual,
    member like 'data.stream[]%' as is_stream,
    case
        when type like 'job/%' and member in ('data.startedAt', 'data.finishedAt') and is_number and not is_one_sided
            then 'job-clocks'
        when type = 'llm/retry' and member = 'data.delayMs' and is_number and not is_one_sided then 'retry-delay'
        when type = 'goal/change' and regexp_matches(member, '(cleared|created|updated)At$') and is_number and not is_one_sided
            then 'goal-clocks'
        when is_moved and has_added then 'ids-renumbered'
        when is_faithful and has_job then 'job-ids'
        when is_faithful and has_spill then 'spill-paths'
        when is_faithful and has_migration then 'migration-ids'
        when is_faithful and has_stream then 'stream-ids'
        when is_faithful and has_added then 'ids-renumbered'
        when is_faithful is not null and not is_faithful then 'ids-crossed'
        when is_output then 'output-changed'
        when type = 'session' then 'header-changed'
        when member in ('sourceEventSeqs[]', 'data.messageSeqs[]') then 'references-changed'
        when regexp_matches(member, '[cC]allId$') then 'call-ids-changed'
        when type = 'tool/call' and member = 'data.name' then 'tool-sequence-changed'
        when
            type like 'assistant/%'
            and (expected = 'tool-call' or actual = 'tool-call' or member = 'data.message.content[].name')
            then 'tool-sequence-changed'
        when
            type like 'assistant/%' and not is_one_sided
            and (member = 'data.message.content[].id' or regexp_matches(member, '^data\.stream\[\](\.chunk\.block)?\.id$'))
            then 'call-ids-changed'
        when
            type in ('tool/call', 'assistant/message', 'assistant/attempt')
            and regexp_matches(member, '(^data|\.content\[\]|\.block)\.arguments$')
            then 'tool-arguments-changed'
        when type = 'tool/result' and regexp_matches(member, '(\.isError$|^data\.error|\.status$)') then 'tool-outcome-changed'
        when type = 'tool/result' and regexp_matches(member, '^data\.(meta|message\.content|text)') then 'tool-result-changed'
        when regexp_matches(member, '(^|\.)usage(\.|$)') or (type = 'usage' and member like '%_tokens') then 'usage-moved'
        when member like 'data.stream[]%.cuts[]' then 'stream-cuts'
        when is_one_sided or member = '(order)' then 'members-changed'
        when is_text then 'text-changed'
        else 'value-changed'
    end as cause
from told
