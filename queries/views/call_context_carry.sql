-- doc: What each tool call's result went on to weigh: its characters times the later model calls that had to read it.
-- grain: one row per own tool call
-- needs: tool_calls, tool_results, calls, billed_usage, stored.events, stored.tool_results, source_status
-- A result is in the context of every later model call of its session (own answers and attempts that report usage)
-- until a compaction or a pruning lists it among the messages that it replaces, or a re-rendering of the result
-- stands in its place and is carried on at its own length. Where a compaction's list is not known (a lake without
-- content) it replaces all before it. carried_chars is null where a length is unknown.
with rounds as (
    select
        source_id, line // 64 as block,
        bit_or(1::ubigint << (line % 64)::ubigint) as lines,
        bit_count(lines) as in_block
    from billed_usage
    where kind in ('message', 'attempt')
    group by source_id, block
),

counted as (
    select
        source_id, block, lines, in_block,
        lag(block, 1, -1) over (partition by source_id order by block) as block_before,
        (sum(in_block) over (partition by source_id order by block desc))::bigint as in_all
    from rounds
),

-- How many calls a file has from a line on: the lines of a block of 64 that have one are the bits of a number, and how
-- many there are in later blocks stands beside. After the last block there are none.
blocks as materialized (
    select source_id, block, lines, in_all - in_block as later from counted
    union all
    select source_id, unnest(range(block_before + 1, block)) as block, 0 as lines, in_all as later from counted
),

compactions as materialized (
    select s.source_id, e.line, from_json(parsable(e.data), '{"shadowedSeqs":["BIGINT"]}').shadowedSeqs as seqs
    from stored.events as e
    inner join source_status as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
    where s.is_counted and not e.is_tail and e.type in ('compaction/summary', 'compaction/prune')
),

-- Files that use an id again are known: in all others the results of an id are of one call, and only re-renderings come
-- after another.
files as materialized (
    select
        source_id,
        has_repeated_calls as is_reusing,
        source_key in (select source_key from stored.tool_results where is_replacement) as is_rendering_again
    from source_status
    where is_counted
),

reusing as (select source_id from files where is_reusing),

-- In all but these files each call has one result, which stays.
changing as (
    select source_id from files where is_reusing or is_rendering_again
    union
    select source_id from compactions
),

whole as materialized (
    select source_id, line, seq, call_id, result_chars, is_replacement
    from tool_results
    semi join changing using (source_id)
    where not is_recovered
),

renderings as (
    select source_id, call_id, 1::bigint as call_number, line, seq, result_chars
    from whole
    anti join reusing using (source_id)
    semi join (select source_id, call_id from whole where is_replacement) using (source_id, call_id)
    union all
    -- Each belongs to the last call of its id before it, or the first one where it stands before any.
    select r.source_id, r.call_id, coalesce(c.call_number, 1) as call_number, r.line, r.seq, r.result_chars
    from (select * from whole semi join reusing using (source_id)) as r
    asof left join (select * from calls where may_repeat and not is_recovered) as c
        on c.source_id = r.source_id and c.call_id = r.call_id and c.line < r.line
),

followed as materialized (
    select
        *,
        lead(line) over (partition by source_id, call_id, call_number order by line, seq) as next_line
    from renderings
),

listed as (select source_id, line, unnest(seqs) as seq from compactions),

-- What does not stay to the end of its session.
leaving as (
    select source_id, line, max(next_line) as next_line, min(removed_line) as removed_line
    from (
        select source_id, line, next_line, null as removed_line from followed where next_line is not null
        union all
        select r.source_id, r.line, null as next_line, l.line as removed_line
        from whole as r
        inner join listed as l on l.source_id = r.source_id and l.seq = r.seq and l.line > r.line
        union all
        select r.source_id, r.line, null as next_line, u.line as removed_line
        from whole as r
        inner join compactions as u on u.source_id = r.source_id and u.seqs is null and u.line > r.line
    )
    group by source_id, line
),

left_after as materialized (
    select
        l.source_id, l.line, l.next_line is null as is_removed,
        coalesce(b.later + bit_count(b.lines >> (least(l.next_line, l.removed_line) % 64)::ubigint), 0) as rounds
    from leaving as l
    left join blocks as b on b.source_id = l.source_id and b.block = least(l.next_line, l.removed_line) // 64
),

carried as (
    select
        f.source_id, f.call_id, f.call_number, f.result_chars,
        coalesce(a.is_removed, false) as is_removed,
        coalesce(b.later + bit_count(b.lines >> (f.line % 64)::ubigint), 0) - coalesce(a.rounds, 0) as rounds
    from followed as f
    left join left_after as a on a.source_id = f.source_id and a.line = f.line
    left join blocks as b on b.source_id = f.source_id and b.block = f.line // 64
),

-- Calls with several results, or that may have several.
summed as (
    select
        source_id, call_id, call_number,
        sum(rounds)::bigint as later_calls,
        case when count(*) = count(result_chars) then try_cast(sum(result_chars::hugeint * rounds) as bigint) end
            as carried_chars,
        bool_or(is_removed) as is_removed
    from carried
    group by source_id, call_id, call_number
),

answered as (
    select
        c.*,
        s.source_id is not null as is_summed, s.later_calls, s.carried_chars, s.is_removed,
        coalesce(a.is_removed, false) as is_only_removed,
        coalesce(b.later + bit_count(b.lines >> (c.result_line % 64)::ubigint), 0) - coalesce(a.rounds, 0) as rounds
    from tool_calls as c
    left join summed as s
        on s.source_id = c.source_id and s.call_id = c.call_id and s.call_number = c.call_number
    left join left_after as a on a.source_id = c.source_id and a.line = c.result_line
    left join blocks as b on b.source_id = c.source_id and b.block = c.result_line // 64
    where not c.is_inherited and not c.is_recovered
)

select
    session_id, source_id, line, seq, turn, step, call_id, name, status, result_chars,
    case when is_summed then later_calls when result_line is not null then rounds end as later_calls,
    case
        when is_summed then carried_chars
        when result_line is not null then try_cast(result_chars::hugeint * rounds as bigint)
    end as carried_chars,
    case when is_summed then is_removed when result_line is not null then is_only_removed end as is_removed
from answered
