-- doc: Sequence numbers that a file's events leave out, or use more than once.
-- grain: one row per gap or run of repeated numbers
-- needs: stored.events, source_status
-- line is that of the first event behind a gap, or of the first that repeats a number. is_explained: something in the
-- file could not be read, and the missing events may have been in it. What is missing at the end of a file, nobody
-- can know.
-- Files without gaps are set aside by one pass: the numbers run from 0 without a gap or a repetition just if the
-- numbers at which rows begin are, but for the first and the last, those at which others end; compared by the sums
-- of their hashes.
with numbered as (
    select
        e.source_key, e.line, e.seq::hugeint as seq, e.seq::hugeint + e.members - 1 as last_seq
    from stored.events as e
    inner join source_status as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
    where s.is_counted and not e.is_tail and not e.is_recovered
),

uneven as (
    select source_key
    from numbered
    group by source_key
    having min(seq) <> 0
        or sum(hash(seq)::hugeint) - sum(hash(last_seq + 1)::hugeint)
        <> hash(min(seq))::hugeint - hash(max(last_seq) + 1)::hugeint
),

ordered as (
    select
        *,
        max(last_seq) over (
            partition by source_key order by seq, line rows between unbounded preceding and 1 preceding
        ) as reached
    from numbered
    semi join uneven using (source_key)
),

repeated as (
    select
        source_key, line, seq, least(last_seq, reached) as last_seq,
        seq is distinct from lag(last_seq) over (partition by source_key order by line, seq) + 1 as is_first
    from ordered
    where seq <= reached
),

runs as (
    select *, count(*) filter (is_first) over (partition by source_key order by line, seq) as run from repeated
),

gaps as (
    select
        source_key, 'missing' as kind, line, coalesce(reached, -1) + 1 as first_seq, seq - 1 as last_seq,
        seq - coalesce(reached, -1) - 1 as numbers
    from ordered
    where seq > coalesce(reached, -1) + 1
    union all
    select
        source_key, 'repeated' as kind, min(line) as line, min(seq) as first_seq, max(last_seq) as last_seq,
        sum(last_seq - seq + 1) as numbers
    from runs
    group by source_key, run
)

select
    s.path, s.source_id, s.session_id, g.kind, g.first_seq::bigint as first_seq, g.last_seq::bigint as last_seq,
    g.numbers::bigint as numbers, g.line,
    g.kind = 'missing' and s.bad_frames + s.rejected_lines + s.unframed_bytes > 0 as is_explained
from gaps as g
inner join source_status as s using (source_key)
order by s.path, g.line, g.first_seq
