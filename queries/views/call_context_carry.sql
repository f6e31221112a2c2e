-- doc: What each tool call's result went on to weigh: its characters times the later model calls that had to read it.
-- grain: one row per own tool call
-- needs: tool_calls, tool_results, billed_usage, stored.events, source_status
-- A result is in the context of every later model call of its session (own answers and attempts that report usage)
-- until a compaction or a pruning lists it among the messages that it replaces, or a re-rendering of the result
-- stands in its place and is carried on at its own length. Where a compaction's list is not known (a lake without
-- content) it replaces all before it. carried_chars is null where a length is unknown.
with rounds as (
    select source_id, line, row_number() over (partition by source_id order by line, seq) as number
    from billed_usage
    where kind in ('message', 'attempt')
),

last_rounds as (select source_id, max(number) as number from rounds group by source_id),

compactions as (
    select s.source_id, e.line, from_json(parsable(e.data), '{"shadowedSeqs":["BIGINT"]}').shadowedSeqs as seqs
    from stored.events as e
    inner join source_status as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
    where s.is_counted and not e.is_tail and e.type in ('compaction/summary', 'compaction/prune')
),

listed as (select source_id, line, unnest(seqs) as seq from compactions),

unlisted as (select source_id, line from compactions where seqs is null),

-- Each rendering belongs to the last call of its id before it, or the first one where it stands before any.
renderings as (
    select
        r.source_id, r.call_id, coalesce(c.call_number, 1) as call_number, r.line, r.seq, r.result_chars,
        lead(r.line) over (
            partition by r.source_id, r.call_id, coalesce(c.call_number, 1) order by r.line, r.seq
        ) as next_line
    from (select * from tool_results where not is_recovered) as r
    asof left join (select * from tool_calls where not is_recovered) as c
        on c.source_id = r.source_id and c.call_id = r.call_id and c.line < r.line
),

removed as (
    select r.source_id, r.line, min(l.line) as removed_line
    from renderings as r
    inner join listed as l on l.source_id = r.source_id and l.seq = r.seq and l.line > r.line
    group by r.source_id, r.line
),

alive as (
    select
        r.source_id, r.call_id, r.call_number, r.line, r.result_chars, r.next_line,
        least(d.removed_line, u.line) as removed_line,
        least(r.next_line, d.removed_line, u.line) as until_line
    from renderings as r
    left join removed as d on d.source_id = r.source_id and d.line = r.line
    asof left join unlisted as u on u.source_id = r.source_id and r.line < u.line
),

begun as (
    select a.*, coalesce(b.number, 0) as rounds_before
    from alive as a
    asof left join rounds as b on b.source_id = a.source_id and a.line > b.line
),

carried as (
    select
        b.source_id, b.call_id, b.call_number, b.result_chars,
        b.next_line is null and b.removed_line is not null as is_removed,
        case when b.until_line is null then coalesce(l.number, 0) else coalesce(u.number, 0) end
            - b.rounds_before as rounds
    from begun as b
    left join last_rounds as l on l.source_id = b.source_id
    asof left join rounds as u on u.source_id = b.source_id and b.until_line > u.line
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
