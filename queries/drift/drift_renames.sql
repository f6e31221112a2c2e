-- doc: Which id of one side stands in the place of which of the other, where lines differ in ids alone or are equal.
-- grain: one row per pair of ids and place where they stand
-- needs: drift.leaves, drift_places
-- Ids: of background jobs, of the folders of spilled output, those that a migration makes, the numbered tokens
-- of the kit, and in streams, where fragments hide them from the kit, ids with a UUID.
with told as (
    select
        *,
        '\{\{[a-z]+:[0-9]+\}\}|\b[a-z]+-[0-9a-f]{16}\b|\bv[0-9]+-to-v[0-9]+-[a-z-]+-[0-9a-f]{64}\b'
        || '|[^\s"''()<>\[\]]*[/\\]dsh-spill-[A-Za-z0-9]{6}[/\\]+session-[0-9a-f]{12}[/\\]+[0-9a-f]{12}-'
        || '|[^\s"''()<>\[\]]*[/\\]dsh-subprocess-[A-Za-z0-9]{6}[/\\]+dsh-subprocess-[0-9]+-[0-9]+-[0-9a-f]{12}-'
        || case
            when member like 'data.stream[]%'
                then '|(?:\b[A-Za-z]+-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
            else ''
        end as pattern
    from drift.leaves
),

differing as (
    select
        pair, part, place, leaf, member,
        unnest(regexp_extract_all(expected, pattern)) as expected,
        unnest(regexp_extract_all(actual, pattern)) as actual
    from told
    where
        expected is not null and actual is not null
        and regexp_replace(expected, pattern, '{}', 'g') = regexp_replace(actual, pattern, '{}', 'g')
),

shared as (
    select distinct
        pair, part, place, -1 as leaf, '' as member,
        unnest(regexp_extract_all(
            expected_text, '\{\{[a-z]+:[0-9]+\}\}|\b[a-z]+-[0-9a-f]{16}\b|\bv[0-9]+-to-v[0-9]+-[a-z-]+-[0-9a-f]{64}\b'
        )) as id
    from drift_places
    where is_equal
),

ids as (
    select * from differing
    union all
    select pair, part, place, leaf, member, id as expected, id as actual from shared
)

select
    *,
    case
        when expected like '{{%' and actual like '{{%'
            then case when split_part(expected, ':', 1) = split_part(actual, ':', 1) then 'token' else 'other' end
        when expected like '%dsh-spill-%' or expected like '%dsh-subprocess-%' then 'spill'
        when regexp_matches(expected, '^[a-z]+-[0-9a-f]{16}$') then 'job'
        when regexp_matches(expected, '^v[0-9]+-to-v') then 'migration'
        else 'stream'
    end as kind
from ids
