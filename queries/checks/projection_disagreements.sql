-- doc: Sessions whose tokens are other than DSH's own projection cache says, where that covers the whole log.
-- grain: one row per session and kind of token
-- needs: usage, sources, source_status, stored.events
-- params: projections
-- severity: fail
-- projections is a JSON list, one object for each cache file that was found, as dsh_lake.projections reads them. DSH
-- counts the samples in force of answers and attempts, inherited ones too, and no compactions. A cache that lags
-- behind its log, or has seen more of it than the last scan, says nothing.
with listed as (
    select unnest(from_json(
        coalesce(getvariable('projections')::varchar, '[]'),
        '[{"source_id":"VARCHAR","path":"VARCHAR","seq":"BIGINT","totals":'
        || '{"uncachedInputTokens":"BIGINT","outputTokens":"BIGINT","cacheReadTokens":"BIGINT",'
        || '"cacheWriteTokens":"BIGINT"}}]'
    )) as one
),

stated as (select one.source_id as source_id, one.path as path, one.seq as seq, one.totals as totals from listed),

lasts as (
    select s.source_id, max(e.seq + e.members - 1) as seq
    from stored.events as e
    inner join source_status as s on e.source_key = s.source_key and e.batch between s.first_batch and s.last_batch
    semi join stated as t on t.source_id = s.source_id
    where s.is_counted and not e.is_tail and not e.is_recovered
    group by s.source_id
),

ours as (
    select
        source_id,
        sum(input_tokens) as input,
        sum(output_tokens) as output,
        coalesce(sum(cache_read_tokens), 0) as cache_read,
        coalesce(sum(cache_write_tokens), 0) as cache_write
    from usage
    where kind <> 'compaction' and not is_replaced and not is_recovered
    group by source_id
),

compared as (
    select t.source_id, t.path as cache_path, unnest([
        {name: 'input', theirs: t.totals.uncachedInputTokens, ours: coalesce(o.input, 0)},
        {name: 'output', theirs: t.totals.outputTokens, ours: coalesce(o.output, 0)},
        {name: 'cache read', theirs: t.totals.cacheReadTokens, ours: coalesce(o.cache_read, 0)},
        {name: 'cache write', theirs: t.totals.cacheWriteTokens, ours: coalesce(o.cache_write, 0)}
    ]) as one
    from stated as t
    inner join lasts as l on l.source_id = t.source_id and l.seq = t.seq
    left join ours as o on o.source_id = t.source_id
)

select
    'session' as subject_kind, s.session_id as subject_id, s.path, null::varchar as position,
    'DSH counts ' || c.one.theirs || ' ' || c.one.name || ' tokens (' || c.cache_path || '), the log adds up to '
    || c.one.ours as message
from compared as c
inner join sources as s using (source_id)
where c.one.theirs <> c.one.ours and s.bad_frames + s.rejected_lines + s.unframed_bytes = 0
