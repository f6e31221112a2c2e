-- doc: What each tool call's result went on to weigh: its characters times the later model calls that had to read it.
-- grain: one row per own tool call
-- needs: tool_calls, tool_results, calls, billed_usage, stored.events, source_status
-- A result is in the context of every later model call of its session (own answers and attempts that report usage)
-- until a compaction or a pruning lists it among the messages that it replaces, or a re-rendering of the result
-- stands in its place and is carried on at its own length. Where a compaction's list is not known (a lake without
-- content) it replaces all before it. carried_chars is null where a length is unknown.
with rounds as materialized (
    select source_id, line from billed_usage where kind in ('message', 'attempt')
),

compactions as (
    select s.source_id, e.line, from_json(parsable(e.data), '{"shadowedSeqs":["BIGINT"]}').shadowedSeqs as seqs
    from stored.events as e
    inner join source_status as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
    where s.is_counted and not e.is_tail and e.type in ('compaction/summary', 'compaction/prune')
),

listed as (select source_id, line, unnest(seqs) as seq from compactions),

unlisted as (select source_id, line from compactions where seqs is null),

whole as (select source_id, line, seq, call_id, result_chars, is_replacement from tool_results where not is_recovered),

-- Files that use an id again are few, and known: in all others the results of an id are of one call, and only
-- re-renderings come after another.
reusing as (select source_id from source_status where is_counted and has_repeated_calls),

renderings as not materialized (
    select source_id, call_id, 1::bigint as call_number, line, seq, result_chars
    from whole
    anti join reusing using (source_id)
    union all
    -- Each belongs to the last call of its id before it, or the first one where it stands before any.
    select r.source_id, r.call_id, coalesce(c.call_number, 1) as call_number, r.line, r.seq, r.result_chars
    from (select * from whole semi join reusing using (source_id)) as r
    asof left join (select * from calls where may_repeat and not is_recovered) as c
        on c.source_id = r.source_id and c.call_id = r.call_id and c.line < r.line
),

rendered_again as (
    select source_id, call_id from whole where is_replacement
    union
    select source_id, call_id from whole semi join reusing using (source_id)
),

followed as (
    select
        source_id, line,
        lead(line) over (partition by source_id, call_id, call_number order by line, seq) as next_line
    from renderings
    semi join rendered_again using (source_id, call_id)
),

removed as (
    select r.source_id, r.line, l.line as removed_line
    from whole as r
    inner join listed as l on l.source_id = r.source_id and l.seq = r.seq and l.line > r.line
    union all
    select r.source_id, r.line, u.line as removed_line
    from whole as r
    inner join unlisted as u on u.source_id = r.source_id and u.line > r.line
),

-- What does not stay to the end of its session.
leaving as (
    select source_id, line, max(next_line) as next_line, min(removed_line) as removed_line
    from (
        select source_id, line, next_line, null as removed_line from followed where next_line is not null
        union all
        select source_id, line, null as next_line, removed_line from removed
    )
    group by source_id, line
),

left_after as (
    select l.source_id, l.line, l.next_line is null as is_removed, count(b.line) as rounds
    from leaving as l
    left join rounds as b on b.source_id = l.source_id and b.line < least(l.next_line, l.removed_line)
    group by l.source_id, l.line, is_removed
),

-- One order of calls and results tells how many calls stand before each result, and how many there are.
timeline as (
    select source_id, line, false as is_round, call_id, call_number, result_chars from renderings
    union all
    select source_id, line, true as is_round, null as call_id, null as call_number, null as result_chars from rounds
),

counted as (
    select
        *,
        count(*) filter (is_round) over (partition by source_id order by line, is_round) as rounds_before,
        count(*) filter (is_round) over (partition by source_id) as rounds_in_all
    from timeline
),

carried as (
    select
        b.source_id, b.call_id, b.call_number, b.result_chars,
        coalesce(a.is_removed, false) as is_removed,
        coalesce(a.rounds, b.rounds_in_all) - b.rounds_before as rounds
    from counted as b
    left join left_after as a on a.source_id = b.source_id and a.line = b.line
    where not b.is_round
),

summed as (
    select
        source_id, call_id, call_number,
        sum(rounds)::bigint as later_calls,
        case when count(*) = count(result_chars) then try_cast(sum(result_chars::hugeint * rounds) as bigint) end
            as carried_chars,
        bool_or(is_removed) as is_removed
    from carried
    group by source_id, call_id, call_number
)

select
    c.session_id, c.source_id, c.line, c.seq, c.turn, c.step, c.call_id, c.name, c.status, c.result_chars,
    s.later_calls, s.carried_chars, s.is_removed
from tool_calls as c
left join summed as s
    on s.source_id = c.source_id and s.call_id = c.call_id and s.call_number = c.call_number
where not c.is_inherited and not c.is_recovered
